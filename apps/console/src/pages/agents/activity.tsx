import type { Approval, Entry } from '@remit/contract'
import { amountText, resourceText } from '@remit/contract/fit'
import { WINDOWS } from '@remit/contract/values'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { limitQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { period, statsQuery } from '../../api/stats.ts'
import { count, usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Table, TableOf } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Pair, Tile, Tiles } from '../../ui/tile.tsx'
import ui from '../../ui/ui.module.css'
import { Ago, Id, Literal } from '../../ui/values.tsx'
import { Status } from '../approvals/detail.tsx'
import { DECISION_COLUMN, REQUEST_COLUMNS, TIME_COLUMN } from '../ledger/columns.tsx'
import { LimitDialog, Used } from '../spend/limit-dialog.tsx'

const DAY_MS = 86_400_000
const DAYS = 7
/** Decisions that are read: the newest ones are shown, all of them name MCP servers. */
const READ = 100
const SHOWN = 8
const DECIDED = 'authorization.decided'

export const credentialsQuery = (id: string) =>
  queryOptions({
    queryKey: ['agents', id, 'credentials'],
    queryFn: ({ signal }) =>
      remit.listCredentials({ params: { agentID: id }, query: { limit: 100 }, signal }),
  })

const useRecent = (id: string) =>
  useQuery({
    queryKey: ['agents', id, 'recent'],
    enabled: useCan()('GET /v1/ledger'),
    queryFn: ({ signal }) =>
      remit.listEntries({ query: { agent_id: id, kind: DECIDED, limit: READ }, signal }),
  })

const useLimit = (id: string) =>
  useQuery({ ...limitQuery(id), enabled: useCan()('GET /v1/spend-limits') })

/** Decisions of the agent in seven days; with `denied_agent`, those that were deny. */
function useCount(id: string, by: 'agent' | 'denied_agent'): number | undefined {
  const { data } = useQuery(
    statsQuery(
      `${by} ${id}`,
      () => ({ by, key: id, bucket: 'day', ...period(DAYS, DAY_MS) }),
      useCan()('GET /v1/stats'),
    ),
  )
  return data?.data.reduce((sum, one) => sum + one.count, 0)
}

/** The state of an agent in numbers, each a link to what is behind it. */
export function AgentNumbers({ id }: { id: string }) {
  const can = useCan()
  const recent = useRecent(id)
  const limit = useLimit(id)
  const [decisions, denials] = [useCount(id, 'agent'), useCount(id, 'denied_agent')]
  const waiting = useQuery({ ...approvalsQuery(id, 'pending'), enabled: can('GET /v1/approvals') })
  const credentials = useQuery(credentialsQuery(id))
  const last = recent.data?.data[0]
  const active = credentials.data?.data.filter(({ status }) => status === 'active').length
  const today = limit.data?.spent.day
  return (
    <Tiles>
      <Tile
        name={t.agents.lastSeen}
        value={last ? <Ago at={last.recorded_at} /> : recent.data ? t.common.never : '–'}
        to="/ledger"
        search={{ agent_id: id }}
      />
      <Tile
        name={t.agents.decisions}
        value={decisions === undefined ? '–' : count(decisions)}
        note={t.agents.week}
        to="/ledger"
        search={{ agent_id: id, kind: DECIDED }}
      />
      <Tile
        name={t.agents.denied}
        value={denials === undefined ? '–' : count(denials)}
        note={t.agents.week}
        to="/ledger"
        search={{ agent_id: id, kind: DECIDED, decision: 'deny' }}
      />
      {can('GET /v1/approvals') && (
        <Tile
          name={t.agents.waiting}
          value={waiting.data ? count(waiting.data.data.length) : '–'}
          to="/approvals"
        />
      )}
      <Tile
        name={t.agents.spentToday}
        value={today ? <Spent text={usd(today.usd + today.held_usd)} /> : '–'}
        note={spendNote(limit.data)}
        to="/spend"
        search={{ agent: id }}
      />
      <Tile name={t.agents.activeCredentials} value={active ?? '–'} />
    </Tiles>
  )
}

/** The currency is smaller than its amount. */
const Spent = ({ text }: { text: string }) => (
  <>
    {text.slice(0, -4)} <small>{text.slice(-3)}</small>
  </>
)

function spendNote(limit: { daily_usd: number | null } | null | undefined): string {
  if (limit === undefined) return ''
  if (limit === null) return t.agents.noLimit
  return limit.daily_usd === null ? t.spend.noCap : t.agents.ofCap(usd(limit.daily_usd))
}

/** The agent's newest decisions, pending approvals, spend limit and MCP servers. */
export function AgentActivity({ id }: { id: string }) {
  const can = useCan()
  return (
    <>
      {can('GET /v1/ledger') && <RecentDecisions id={id} />}
      {can('GET /v1/approvals') && <Requests id={id} />}
      <Pair>
        {can('GET /v1/spend-limits') && <Limit id={id} />}
        {can('GET /v1/ledger') && <McpServers id={id} />}
      </Pair>
    </>
  )
}

function RecentDecisions({ id }: { id: string }) {
  const query = useRecent(id)
  return (
    <Card
      title={t.agents.activity}
      actions={
        <Link to="/ledger" search={{ agent_id: id }} className={buttonClass()}>
          {t.agents.allEntries}
        </Link>
      }
    >
      <Loaded query={query}>
        {({ data }) => (
          <Table<Entry>
            label={t.agents.activity}
            rows={data.slice(0, SHOWN)}
            rowKey={({ seq }) => String(seq)}
            empty={t.agents.noActivity}
            csv={`decisions-${id}`}
            all={() => Promise.resolve(data)}
            columns={[TIME_COLUMN, DECISION_COLUMN, ...REQUEST_COLUMNS]}
          />
        )}
      </Loaded>
    </Card>
  )
}

function Limit({ id }: { id: string }) {
  const can = useCan()
  const query = useLimit(id)
  const [isOpen, setOpen] = useState(false)
  return (
    <Card
      title={t.agents.limit}
      actions={
        can('POST /v1/spend-limits/{id}') && (
          <Button disabled={query.data === undefined} onClick={() => setOpen(true)}>
            {t.spend.set}
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {(limit) =>
          limit === null ? (
            <p className={ui['muted']}>{t.agents.noLimitText}</p>
          ) : (
            WINDOWS.map(({ name, cap }) => (
              <div key={name}>
                {t.spend.windows[name].now}: <Used used={limit.spent[name]} cap={limit[cap]} />
              </div>
            ))
          )
        }
      </Loaded>
      {isOpen && query.data !== undefined && (
        <LimitDialog agent={id} limit={query.data} onClose={() => setOpen(false)} />
      )}
    </Card>
  )
}

const approvalsQuery = (id: string, status?: 'pending') => ({
  queryKey: ['approvals', 'agent', id, status],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    remit.listApprovals({
      query: { agent_id: id, limit: status ? 200 : SHOWN, ...(status && { status }) },
      signal,
    }),
})

const Requests = ({ id }: { id: string }) => (
  <Card title={t.approvals.title}>
    <TableOf<Approval>
      query={useQuery(approvalsQuery(id))}
      empty={t.agents.noRequests}
      label={t.approvals.title}
      rowKey={(row) => row.id}
      columns={[
        {
          name: t.approvals.action,
          cell: ({ id: request, action }) => (
            <Link to="/approvals/$id" params={{ id: request }}>
              <Id>{action}</Id>
            </Link>
          ),
        },
        { name: t.approvals.resource, value: (row) => resourceText(row), as: 'id' },
        { name: t.approvals.amount, end: true, cell: (row) => amountText(row) ?? '–' },
        { name: t.approvals.status, cell: ({ status }) => <Status status={status} /> },
        { name: t.approvals.requestedAt, cell: ({ requested_at: at }) => <Ago at={at} /> },
      ]}
    />
  </Card>
)

/** The servers that the newest decisions name: the MCP gateway records the one of each call. */
function McpServers({ id }: { id: string }) {
  const query = useRecent(id)
  return (
    <Card title={t.agents.servers}>
      <Loaded query={query}>
        {({ data }) => {
          const names = new Set(data.flatMap((entry) => upstreamOf(entry) ?? []))
          if (names.size === 0) return <p className={ui['muted']}>{t.agents.noServers(READ)}</p>
          return (
            <ul>
              {[...names].toSorted().map((name) => (
                <Literal as="li" key={name}>
                  {name}
                </Literal>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Card>
  )
}

function upstreamOf({ data }: Entry): string | null {
  const context = data?.['context'] as Readonly<Record<string, unknown>> | undefined
  const upstream = context?.['upstream']
  return typeof upstream === 'string' ? upstream : null
}
