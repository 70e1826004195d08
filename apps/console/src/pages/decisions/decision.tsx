import type { Entry } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useCan } from '../../api/session.ts'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Page, Stack, Table } from '../../ui/layout.tsx'
import { Code, CurlButton, Empty, Loaded, Note } from '../../ui/states.tsx'
import { Pair } from '../../ui/tile.tsx'
import ui from '../../ui/ui.module.css'
import { Decision, Id, Literal, Time } from '../../ui/values.tsx'
import { SEQ_COLUMN } from '../ledger/seq-column.tsx'
import { Rules } from './rules.tsx'
import { costOf, outcomesOf, storyQuery } from './story.ts'
import type { Story } from './story.ts'
import { ApprovalOf } from './votes.tsx'

/** One decision from the request to its result, as the ledger tells it. */
export function DecisionPage() {
  const { id } = useParams({ from: '/decisions/$id' })
  const can = useCan()
  const query = useQuery(storyQuery(id, can('GET /v1/approvals/{id}')))
  const trace = query.data?.recorded.trace_id
  return (
    <Page
      title={t.decisions.title}
      lead={<Id>{id}</Id>}
      actions={
        <>
          <CurlButton
            request={() => ({
              method: 'GET',
              path: `/v1/ledger?order=asc&decision_id=${encodeURIComponent(id)}`,
            })}
          />
          {trace !== undefined && (
            <Link to="/ledger" search={{ trace_id: trace }} className={buttonClass()}>
              {t.ledger.sameTrace}
            </Link>
          )}
        </>
      }
    >
      <Loaded query={query}>
        {(story) =>
          story ? (
            <Told story={story} />
          ) : (
            <Empty title={t.decisions.none}>{t.decisions.noneText}</Empty>
          )
        }
      </Loaded>
    </Page>
  )
}

function Told({ story }: { story: Story }) {
  const { decision, recorded, approval, entries } = story
  return (
    <Stack>
      <Outcome decision={decision} />
      <Pair>
        <Request story={story} />
        <Cost story={story} />
      </Pair>
      {decision.data !== null && (
        <Rules decision={decision} recorded={recorded} approval={approval} />
      )}
      {approval && <ApprovalOf approval={approval} decision={recorded} />}
      <Timeline entries={entries} />
    </Stack>
  )
}

function Outcome({ decision: entry }: { decision: Entry }) {
  const { decision, reason, agent_id, action, resource, recorded_at, seq } = entry
  return (
    <Card title={t.decisions.outcome} actions={decision && <Decision decision={decision} />}>
      <Stack>
        <p>
          {t.decisions.reasons[reason ?? ''] ?? ''} {reason && <Id>{reason}</Id>}
        </p>
        <Facts
          rows={[
            [
              t.ledger.agent,
              agent_id && (
                <Link to="/agents/$id" params={{ id: agent_id }}>
                  <Literal>{agent_id}</Literal>
                </Link>
              ),
            ],
            [t.ledger.action, action && <Literal>{action}</Literal>],
            [t.ledger.resource, resource && <Literal>{resource}</Literal>],
            [t.ledger.fields.recorded_at, <Time key="t" at={recorded_at} as="exact" />],
            [
              t.ledger.seq,
              <Link key="s" to="/ledger/$seq" params={{ seq: String(seq) }}>
                {t.ledger.entry(seq)}
              </Link>,
            ],
          ]}
        />
      </Stack>
    </Card>
  )
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

function Request({ story: { decision, recorded } }: { story: Story }) {
  const context = Object.entries(recorded.context ?? {})
  return (
    <Card title={t.decisions.request}>
      {decision.data === null ? (
        <Note tone="info">{t.decisions.erased}</Note>
      ) : context.length === 0 ? (
        <p className={ui['muted']}>{t.decisions.noContext}</p>
      ) : (
        <Stack>
          <Facts
            rows={context.map(([name, value]) => [
              name,
              <Literal key={name}>{asText(value)}</Literal>,
            ])}
          />
          <details>
            <summary>{t.decisions.exact}</summary>
            <Code label={t.decisions.exact}>{JSON.stringify(recorded.context, null, 2)}</Code>
          </details>
        </Stack>
      )}
    </Card>
  )
}

function Cost({ story: { recorded, own } }: { story: Story }) {
  const cost = costOf(own)
  const outcomes = outcomesOf(own)
  const { spend, hold } = recorded
  const rows = [
    [t.decisions.amount, spend?.amount_usd === undefined ? null : usd(spend.amount_usd)],
    [t.decisions.held, hold ? usd(hold.usd) : null],
    [t.decisions.settled, cost === null ? null : usd(cost)],
    [t.decisions.reported, outcomes.length === 0 ? null : outcomes.join(', ')],
  ] as const
  return (
    <Card title={t.decisions.cost}>
      <Stack>
        {rows.some(([, value]) => value !== null) && <Facts rows={rows} />}
        {cost === null && outcomes.length === 0 && (
          <p className={ui['muted']}>{t.decisions.nothing}</p>
        )}
      </Stack>
    </Card>
  )
}

const Timeline = ({ entries }: { entries: readonly Entry[] }) => (
  <Card title={t.decisions.story}>
    <Table<Entry>
      label={t.decisions.entries}
      rows={entries}
      rowKey={({ seq }) => String(seq)}
      csv="decision"
      columns={[
        SEQ_COLUMN,
        {
          name: t.ledger.time,
          value: ({ recorded_at }) => recorded_at,
          as: 'time',
        },
        { name: t.ledger.kind, value: ({ kind }) => kind },
        {
          name: t.ledger.actor,
          value: ({ actor }) => actor && `${actor.type} ${actor.id}`,
          as: 'id',
        },
        { name: t.decisions.reported, value: ({ data }) => outcomesOf([{ data } as Entry])[0] },
      ]}
    />
  </Card>
)
