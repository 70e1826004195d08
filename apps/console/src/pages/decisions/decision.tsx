import type { Entry, Approval, ApprovalRule, Policy } from '@remit/contract'
import { WINDOWS } from '@remit/contract/values'
import { useQuery, queryOptions } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useActorText, useCan } from '../../api/session.ts'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Page, Stack, Table } from '../../ui/layout.tsx'
import { Code, CurlButton, Empty, Loaded, Note } from '../../ui/states.tsx'
import { Pair } from '../../ui/tile.tsx'
import ui from '../../ui/ui.module.css'
import { Decision, Id, Literal, Time, Badge } from '../../ui/values.tsx'
import { SEQ_COLUMN, TIME_COLUMN } from '../ledger/columns.tsx'
import { costOf, outcomesOf, storyQuery } from './story.ts'
import type { Story, Recorded } from './story.ts'
import { Status } from '../approvals/detail.tsx'
import { remit } from '../../api/client.ts'
import { approvalRulesQuery, policiesQuery } from '../../api/queries.ts'
import { triedOf } from './tried.ts'
import type { Matched, RulesThen, Tried } from './tried.ts'

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
          <CurlButton request={`/v1/ledger?order=asc&decision_id=${encodeURIComponent(id)}`} />
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
      {decision.data !== null && <Rules {...story} />}
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
            [t.ledger.action, action],
            [t.ledger.resource, resource],
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

function Timeline({ entries }: { entries: readonly Entry[] }) {
  const actorText = useActorText()
  return (
    <Card title={t.decisions.story}>
      <Table<Entry>
        label={t.decisions.entries}
        rows={entries}
        rowKey={({ seq }) => String(seq)}
        csv="decision"
        columns={[
          SEQ_COLUMN,
          TIME_COLUMN,
          { name: t.ledger.kind, value: ({ kind }) => kind },
          { name: t.ledger.actor, value: ({ actor }) => actorText(actor), as: 'id' },
          { name: t.decisions.reported, value: ({ data }) => outcomesOf([{ data } as Entry])[0] },
        ]}
      />
    </Card>
  )
}

interface ApprovalOfProps {
  readonly approval: Approval
  readonly decision: Recorded & { readonly decision_id?: string }
}

/** The approval of a decision: who voted how, and the decisions before and after. */
function ApprovalOf({ approval, decision }: ApprovalOfProps) {
  const { id, status, votes, decision_id: asked, consumed_by: used } = approval
  const own = decision.decision_id
  return (
    <Card
      title={t.decisions.votes}
      actions={
        <>
          <Status status={status} />
          <Link to="/approvals/$id" params={{ id }} className={buttonClass()}>
            {t.nav.approvals}
          </Link>
        </>
      }
    >
      <Stack>
        <Facts
          rows={[
            [t.decisions.asked, asked === own ? null : <DecisionLink key="a" id={asked} />],
            [
              t.decisions.used,
              used === null || used === own ? null : <DecisionLink key="u" id={used} />,
            ],
          ]}
        />
        <Table
          label={t.approvals.votes}
          rows={votes}
          empty={t.approvals.noVotes}
          rowKey={({ approver }) => approver.id}
          csv="votes"
          columns={[
            {
              name: t.decisions.deciders,
              value: ({ approver }) => approver.email ?? approver.id,
            },
            {
              name: t.decisions.vote,
              value: ({ decision: vote }) => vote,
              badge: ({ decision: vote }) => (vote === 'approve' ? 'allow' : 'deny'),
            },
            { name: t.ledger.time, value: ({ at }) => at, as: 'time' },
            { name: t.decisions.comment, value: ({ comment }) => comment },
          ]}
        />
      </Stack>
    </Card>
  )
}

const DecisionLink = ({ id }: { id: string }) => (
  <Link to="/decisions/$id" params={{ id }}>
    <Id>{id}</Id>
  </Link>
)

type RulesProps = Pick<Story, 'decision' | 'recorded' | 'approval'>

const MOST = 1_000
const NOTHING = { tried: [], others: 0 }

/** Rules that were deleted since the decision, as their entries record them. */
const deletedQuery = (at: string) =>
  queryOptions({
    queryKey: ['decisions', 'deleted rules', at],
    queryFn: async ({ signal }) => {
      const read = async (kind: string, name: string) => {
        const query = { kind, from: at, limit: MOST, order: 'asc' as const }
        const { data } = await remit.listEntries({ query, signal })
        return data.flatMap((entry) => entry.data?.[name] ?? [])
      }
      const [policies, approvalRules] = await Promise.all([
        read('policy.deleted', 'policy'),
        read('approval_rule.removed', 'approval_rule'),
      ])
      return { policies: policies as Policy[], approvalRules: approvalRules as ApprovalRule[] }
    },
  })

/** The rules of now and those that were deleted since; null while they are read or without the right to. */
function useRulesThen(at: string): RulesThen | null {
  const can = useCan()
  const isOn = can('GET /v1/policies') && can('GET /v1/approval-rules')
  const { data: policies } = useQuery({ ...policiesQuery, enabled: isOn })
  const { data: approvalRules } = useQuery({ ...approvalRulesQuery, enabled: isOn })
  const { data: deleted } = useQuery({ ...deletedQuery(at), enabled: isOn })
  if (!policies || !approvalRules || !deleted) return null
  return {
    policies: [...policies.data, ...deleted.policies],
    approvalRules: [...approvalRules.data, ...deleted.approvalRules],
  }
}

/** Each rule that matched, with what it said, and each that named the agent and action and did not. */
function Rules({ decision, recorded, approval }: RulesProps) {
  const { matched = [] } = recorded
  const then = useRulesThen(decision.recorded_at)
  const { tried, others } = then ? triedOf(decision, matched, then) : NOTHING
  const rows: readonly (Matched | Tried)[] = [...matched, ...tried]
  return (
    <Card title={t.decisions.rules}>
      <Stack>
        <Table<Matched | Tried>
          label={t.decisions.rules}
          rows={rows}
          empty={t.decisions.noRules}
          rowKey={({ kind, id }) => `${kind} ${id}`}
          columns={[
            { name: t.decisions.kind, value: ({ kind }) => t.decisions.kinds[kind] ?? kind },
            { name: t.decisions.rule, cell: (rule) => <Name rule={rule} /> },
            {
              name: t.decisions.result,
              cell: (rule) =>
                'outcome' in rule ? (
                  <span className={ui['muted']}>{t.decisions.outcomes[rule.outcome]}</span>
                ) : (
                  <Result rule={rule} {...{ decision, recorded, approval }} />
                ),
            },
          ]}
        />
        {then && (
          <p className={ui['hint']}>
            {tried.length > 0 && t.decisions.fromRecord} {t.decisions.others(others)}
          </p>
        )}
      </Stack>
    </Card>
  )
}

/** The policy as it is now; undefined while it is read or without the right to. */
function usePolicy({ kind, id }: Matched) {
  const can = useCan()
  const isPolicy = kind === 'policy' && can('GET /v1/policies')
  const { data } = useQuery({ ...policiesQuery, enabled: isPolicy })
  return data && (data.data.find((policy) => policy.id === id) ?? null)
}

function Name({ rule }: { rule: Matched | Tried }): ReactNode {
  const policy = usePolicy(rule)
  const { kind, id } = rule
  if (kind === 'policy')
    return (
      <Link to="/policies/$id" params={{ id }}>
        <Literal>{policy?.description ?? ('name' in rule && rule.name ? rule.name : id)}</Literal>
      </Link>
    )
  if (kind === 'approval_rule')
    return (
      <Link to="/policies/approval-rules/$id" params={{ id }}>
        <Id>{id}</Id>
      </Link>
    )
  if (kind === 'spend_limit')
    return (
      <Link to="/spend" search={{ agent: id }}>
        <Id>{id}</Id>
      </Link>
    )
  return <Id>{id}</Id>
}

function Result({ rule, decision, recorded, approval }: RulesProps & { rule: Matched }): ReactNode {
  const policy = usePolicy(rule)
  const said = decision.decision === 'deny' ? 'deny' : 'allow'
  if (rule.kind === 'agent' || rule.kind === 'permission') return <Badge tone={said}>{said}</Badge>
  if (rule.kind === 'policy') {
    if (policy === undefined) return '–'
    if (policy === null) return t.decisions.deleted
    const isSame = rule.revision === undefined || policy.revision === rule.revision
    return (
      <>
        <Badge tone={policy.effect}>{policy.effect}</Badge> {!isSame && t.decisions.changed}
      </>
    )
  }
  if (rule.kind === 'spend_limit') return spendText(recorded)
  const requirement = approval?.requirements.find(({ rule_id }) => rule_id === rule.id)
  if (!approval || !requirement) return '–'
  const have = approval.votes.filter((vote) => vote.decision === 'approve').length
  return `${t.approvals.statuses[approval.status]} · ${t.approvals.progress(
    Math.min(have, requirement.required),
    requirement.required,
  )}`
}

/** The spend including the request, by window. */
function spendText({ spend }: Recorded): string {
  const texts = WINDOWS.flatMap(({ name, word }) => {
    const window = spend?.[word]
    if (!window || window.limit_usd === null) return []
    const used = usd(window.spent_usd + (spend.amount_usd ?? 0))
    return [t.decisions.of(used, usd(window.limit_usd), t.spend.windows[name].in)]
  })
  return texts.join(' · ') || '–'
}
