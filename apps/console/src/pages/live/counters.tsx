import type { StatKey, Stats } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { remit } from '../../api/client.ts'
import { ledgerStartQuery, limitsQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Card, Stack, Table } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Pair, Tile, Tiles } from '../../ui/tile.tsx'
import ui from '../../ui/ui.module.css'
import { Id } from '../../ui/values.tsx'
import { pendingQuery } from '../approvals/queries.ts'
import { changeOf, hasRecordBefore, periodOf, SPANS, sumsOf, barsOf } from './spans.ts'
import type { Period, Span, Sum } from './spans.ts'
import { Figure } from '../../ui/figure.tsx'

const DECISIONS = ['allow', 'deny', 'needs_approval'] as const
const DECIDED = 'authorization.decided'
const POLL_MS = 15_000
const TOP = 5

/** The counts of the period and of the one before it, in one answer that says which they are. */
const useCounts = (span: Span, by: StatKey) =>
  useQuery({
    queryKey: ['stats', 'live', span, by],
    enabled: useCan()('GET /v1/stats'),
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => {
      const period = periodOf(span, Date.now())
      const query = {
        by,
        bucket: SPANS[span].bucket,
        from: new Date(period.before).toISOString(),
        to: new Date(period.to).toISOString(),
      }
      return { period, stats: await remit.getStats({ query, signal }) }
    },
  })

/** The numbers of the page, for a length of time and in comparison with the one before. */
export function Counters({ span }: { span: Span }) {
  const can = useCan()
  const counts = useCounts(span, 'decision')
  const start = useQuery({ ...ledgerStartQuery, enabled: can('GET /v1/ledger') })
  return (
    <Stack>
      <Tiles>
        {DECISIONS.map((decision) => (
          <Counted
            key={decision}
            decision={decision}
            {...counts.data}
            start={start.data}
            span={span}
          />
        ))}
        <Now />
      </Tiles>
      {can('GET /v1/stats') && (
        <>
          <Loaded query={counts}>{(data) => <DecisionChart {...data} />}</Loaded>
          <Pair>
            <Denied span={span} by="denied_action" filter="action" title={t.live.deniedActions} />
            <Denied span={span} by="denied_agent" filter="agent_id" title={t.live.deniedAgents} />
          </Pair>
        </>
      )}
    </Stack>
  )
}

interface CountedProps {
  readonly decision: (typeof DECISIONS)[number]
  readonly span: Span
  readonly stats?: Stats
  readonly period?: Period
  /** The time of the first entry. */
  readonly start: string | null | undefined
}

function Counted({ decision, span, stats, period, start }: CountedProps) {
  const sums = stats && period ? sumsOf(stats, period) : null
  const sum = sums && (sums.find(({ key }) => key === decision) ?? { count: 0, before: 0 })
  return (
    <Tile
      name={t.live[decision]}
      value={sum ? count(sum.count) : '–'}
      note={sum && period ? comparison(sum, period, start) : t.live.spans[span]}
      to="/ledger"
      search={{ kind: DECIDED, decision, ...(period && { from: timeOf(period.from) }) }}
    />
  )
}

const timeOf = (ms: number): string => new Date(ms).toISOString()

function comparison(
  sum: Omit<Sum, 'key'>,
  period: Period,
  start: string | null | undefined,
): string {
  const { span } = period
  const change = changeOf(sum)
  if (change !== null) return t.live.change(change, t.live.before[span])
  if (sum.count === 0) return t.live.spans[span]
  return hasRecordBefore(start, period) ? t.live.noneBefore[span] : t.live.noRecord
}

/** Pending approvals and agents near their limits, now. */
function Now() {
  const can = useCan()
  const pending = useQuery({ ...pendingQuery, enabled: can('GET /v1/approvals') })
  const limits = useQuery({ ...limitsQuery, enabled: can('GET /v1/spend-limits') })
  const high = limits.data?.data.filter(({ spent, daily_usd, monthly_usd }) => {
    const isHigh = (used: { usd: number; held_usd: number }, cap: number | null) =>
      cap !== null && used.usd + used.held_usd >= cap * 0.8
    return isHigh(spent.day, daily_usd) || isHigh(spent.month, monthly_usd)
  })
  return (
    <>
      {can('GET /v1/approvals') && (
        <Tile name={t.live.pending} value={pending.data?.data.length ?? '–'} to="/approvals" />
      )}
      {can('GET /v1/spend-limits') && (
        <Tile name={t.live.limits} value={high?.length ?? '–'} to="/spend" />
      )}
      <Ledger />
    </>
  )
}

/** The newest entry and the newest signed one, both by number. */
function Ledger() {
  const state = useQuery({
    queryKey: ['ledger', 'signed'],
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => {
      // First the signature: the newest entry is never before the newest signed one.
      const size = Number((await remit.getCheckpoint({ signal })).split('\n')[1] ?? 0)
      const { head } = await remit.listEntries({ query: { limit: 1, fields: 'header' }, signal })
      return { signed: size - 1, newest: head.seq }
    },
  })
  return (
    <Tile
      name={t.live.ledger}
      value={state.data ? t.live.newest(count(state.data.newest)) : '–'}
      note={state.data && state.data.signed >= 0 ? t.live.signed(count(state.data.signed)) : ''}
      to="/ledger"
    />
  )
}

interface DeniedProps {
  readonly span: Span
  readonly by: 'denied_action' | 'denied_agent'
  /** The filter of the ledger that a click sets. */
  readonly filter: 'action' | 'agent_id'
  readonly title: string
}

function Denied({ span, by, filter, title }: DeniedProps) {
  const query = useCounts(span, by)
  return (
    <Card title={title}>
      <Loaded query={query}>
        {({ stats, period }) => {
          const rows = sumsOf(stats, period).filter(({ count: n }) => n > 0)
          if (rows.length === 0) return <p className={ui['muted']}>{t.live.noDenials}</p>
          return (
            <Table<Sum>
              label={title}
              rows={rows.slice(0, TOP)}
              rowKey={({ key }) => key}
              csv={by}
              all={() => Promise.resolve(rows)}
              columns={[
                {
                  name: t.ledger[filter === 'action' ? 'action' : 'agent'],
                  value: ({ key }) => key,
                  cell: ({ key }) =>
                    key === '*' ? (
                      t.live.others
                    ) : (
                      <Link
                        to="/ledger"
                        search={{
                          kind: DECIDED,
                          decision: 'deny',
                          [filter]: key,
                          from: timeOf(period.from),
                        }}
                      >
                        <Id>{key}</Id>
                      </Link>
                    ),
                },
                { name: t.live.denied, end: true, value: ({ count: n }) => n },
                { name: t.live.before[span], end: true, value: ({ before }) => before },
              ]}
            />
          )
        }}
      </Loaded>
    </Card>
  )
}

const KEYS = [
  ['allow', t.live.allow, '--allow'],
  ['deny', t.live.deny, '--deny'],
  ['needs_approval', t.live.needs_approval, '--wait'],
] as const

/** Decisions of the period; a click on a bar lists them. */
function DecisionChart({ stats, period }: { stats: Stats; period: Period }) {
  const navigate = useNavigate()
  const { span, from } = period
  const { barMs, ms } = SPANS[span]
  const { times, series } = useMemo(
    () => ({
      times: Array.from({ length: Math.ceil(ms / barMs) }, (_, i) => (from + i * barMs) / 1000),
      series: KEYS.map(([key, label, color]) => ({
        label,
        color,
        values: barsOf(stats, key, { span, from, before: from, to: from + ms }),
      })),
    }),
    [stats, span, from, ms, barMs],
  )
  return (
    <Figure
      title={t.live.charts[span]}
      timeName={t.live.start}
      times={times}
      series={series}
      unit={count}
      note={stats.up_to_seq === null ? undefined : t.live.lag(count(stats.up_to_seq))}
      onPick={(i) =>
        void navigate({
          to: '/ledger',
          search: {
            kind: 'authorization.decided',
            from: new Date(from + i * barMs).toISOString(),
            to: new Date(from + (i + 1) * barMs).toISOString(),
          },
        })
      }
    />
  )
}
