import type { Entry, StatKey, Stats } from '@remit/contract'
import { WINDOWS } from '@remit/contract/values'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { remit } from '../../api/client.ts'
import { useEvents } from '../../api/events.ts'
import { ledgerStartQuery, limitsQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { count } from '../../format/money.ts'
import { PAGES, isShown } from '../../shell/pages.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Choice, Input, Select } from '../../ui/field.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Card, Page, Row, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Empty, Failure, Loaded, Note, Skeleton } from '../../ui/states.tsx'
import { Pair, Tile, Tiles } from '../../ui/tile.tsx'
import ui from '../../ui/ui.module.css'
import { Id, useNow } from '../../ui/values.tsx'
import { pendingQuery } from '../approvals/queries.ts'
import {
  DECISIONS,
  DECISION_COLUMN,
  REQUEST_COLUMNS,
  SEQ_COLUMN,
  TIME_COLUMN,
} from '../ledger/columns.tsx'
import { FirstSteps } from './first-steps.tsx'
import { SPANS, barsOf, changeOf, hasRecordBefore, isMatch, periodOf, sumsOf } from './spans.ts'
import type { LiveFilter, Period, Span, Sum } from './spans.ts'

/** The first page; without a ledger the first one that the session has. */
export function Live() {
  const can = useCan()
  if (can('GET /v1/ledger')) return <LivePage />
  const first = PAGES.find((page) => page.to !== '/' && isShown(page, can))
  return <Navigate to={first?.to ?? '/settings'} replace />
}

function LivePage() {
  const { span = '24h', ...filter }: LiveFilter & { span?: Span } = useSearch({ from: '/' })
  const navigate = useNavigate()
  const set: SetFilter = (name) => (value) =>
    void navigate({
      to: '/',
      search: { span, ...filter, [name]: value || undefined } as never,
      replace: true,
    })
  return (
    <Page
      title={t.live.title}
      actions={
        <>
          <Choice
            label={t.live.span}
            value={span}
            options={Object.entries(t.live.spans)}
            onValue={set('span')}
          />
          <CurlButton request="/v1/ledger?kind=authorization.decided" />
        </>
      }
    >
      <Stack>
        <FirstSteps />
        <Counters span={span} />
        <DecisionStream filter={filter} set={set} />
      </Stack>
    </Page>
  )
}

const ASK = {
  method: 'POST',
  path: '/v1/authorize',
  body: { agent_id: 'payer', action: 'payments.transfer', context: { amount_usd: 60 } },
}
const KIND = 'authorization.decided'
const POLL_MS = 5_000

type SetFilter = (name: keyof LiveFilter | 'span') => (value: string) => void

/** Decisions as they are made: the newest ones, then each event; where there is no stream, polled. */
function DecisionStream({ filter, set }: { filter: LiveFilter; set: SetFilter }) {
  const can = useCan()
  const hasStream = can('GET /v1/ledger/events')
  // At midnight, the rows get their dates.
  useNow(5_000)
  const [received, setReceived] = useState<Stream>(EMPTY_STREAM)
  const first = useQuery({
    queryKey: ['ledger', 'live'],
    queryFn: ({ signal }) => remit.listEntries({ query: { kind: KIND, limit: 50 }, signal }),
    refetchInterval: hasStream ? false : POLL_MS,
  })
  useEvents((entry) => {
    if (entry.kind === KIND) setReceived((before) => withEntry(before, entry, Date.now()))
  })
  // Entries from before the stream began are no burst.
  const shown = newestFirst([...received.shown, ...(first.data?.data ?? [])])
  const rows = shown.filter((entry) => isMatch(filter, entry))
  const { isPaused, isSampled, waiting } = received
  return (
    <Card
      title={t.live.stream}
      actions={
        <Row>
          {isPaused && <span className={ui['muted']}>{t.live.paused(waiting.length)}</span>}
          <Button onClick={() => setReceived(isPaused ? resumed : paused)}>
            {isPaused ? t.live.resume : t.live.pause}
          </Button>
        </Row>
      }
    >
      <Stack>
        <Row>
          <Select
            label={t.live.decision}
            options={DECISIONS}
            value={filter.decision ?? ''}
            onValue={set('decision')}
          />
          <Input label={t.live.agent} value={filter.agent ?? ''} onValue={set('agent')} />
          <Input label={t.live.action} value={filter.action ?? ''} onValue={set('action')} />
          <Input label={t.live.reason} value={filter.reason ?? ''} onValue={set('reason')} />
        </Row>
        {isSampled && <Note tone="wait">{t.live.sampled}</Note>}
        {!hasStream && <p className={ui['hint']}>{t.live.noStream}</p>}
        {first.error && <Failure error={first.error} />}
        {first.isLoading && <Skeleton />}
        {!first.isLoading && rows.length === 0 && (
          <Empty title={t.live.empty} request={ASK}>
            {t.live.emptyText}
          </Empty>
        )}
        {rows.length > 0 && (
          <Table<Entry>
            label={t.live.stream}
            rows={rows}
            rowKey={({ seq }) => String(seq)}
            csv="decisions"
            columns={[
              SEQ_COLUMN,
              TIME_COLUMN,
              DECISION_COLUMN,
              { name: t.ledger.agent, value: ({ agent_id }) => agent_id, as: 'id' },
              ...REQUEST_COLUMNS,
            ]}
          />
        )}
      </Stack>
    </Card>
  )
}

const MOST_SHOWN = 200
/** Events per second above which only a sample is shown. */
const MOST_PER_SECOND = 50

interface Stream {
  readonly shown: readonly Entry[]
  /** Kept back while paused. */
  readonly waiting: readonly Entry[]
  readonly isPaused: boolean
  readonly isSampled: boolean
  readonly second: number
  readonly inSecond: number
}

const EMPTY_STREAM: Stream = {
  shown: [],
  waiting: [],
  isPaused: false,
  isSampled: false,
  second: 0,
  inSecond: 0,
}

const newestFirst = (entries: readonly Entry[]): Entry[] => {
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]))
  return [...bySeq.values()].toSorted((one, other) => other.seq - one.seq).slice(0, MOST_SHOWN)
}

/** The stream with a further entry; each entry once, whatever the order of their arrival. */
function withEntry(stream: Stream, entry: Entry, now: number): Stream {
  const second = Math.floor(now / 1000)
  const isSame = second === stream.second
  const inSecond = (isSame ? stream.inSecond : 0) + 1
  const isSampled = inSecond > MOST_PER_SECOND || (stream.isSampled && isSame)
  const counted = { ...stream, second, inSecond, isSampled }
  if (inSecond > MOST_PER_SECOND) return counted
  return stream.isPaused
    ? { ...counted, waiting: newestFirst([entry, ...stream.waiting]) }
    : { ...counted, shown: newestFirst([entry, ...stream.shown]) }
}

const paused = (stream: Stream): Stream => ({ ...stream, isPaused: true })

const resumed = (stream: Stream): Stream => ({
  ...stream,
  isPaused: false,
  waiting: [],
  shown: newestFirst([...stream.waiting, ...stream.shown]),
})

const COUNTS_POLL_MS = 15_000
const TOP = 5

/** The counts of the period and of the one before it, in one answer that says which they are. */
const useCounts = (span: Span, by: StatKey) =>
  useQuery({
    queryKey: ['stats', 'live', span, by],
    enabled: useCan()('GET /v1/stats'),
    refetchInterval: COUNTS_POLL_MS,
    queryFn: async ({ signal }) => {
      const period = periodOf(span, Date.now())
      const query = {
        by,
        bucket: SPANS[span].bucket,
        from: timeOf(period.before),
        to: timeOf(period.to),
      }
      return { period, stats: await remit.getStats({ query, signal }) }
    },
  })

/** The numbers of the page, for a length of time and in comparison with the one before. */
function Counters({ span }: { span: Span }) {
  const can = useCan()
  const counts = useCounts(span, 'decision')
  const start = useQuery({ ...ledgerStartQuery, enabled: can('GET /v1/ledger') })
  return (
    <Stack>
      <Tiles>
        {OUTCOMES.map(([decision]) => (
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
  readonly decision: (typeof OUTCOMES)[number][0]
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
      search={{ kind: KIND, decision, ...(period && { from: timeOf(period.from) }) }}
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
  const high = limits.data?.data.filter((limit) =>
    WINDOWS.some(({ name, cap }) => {
      const [{ usd: settled, held_usd: held }, most] = [limit.spent[name], limit[cap]]
      return most !== null && settled + held >= most * 0.8
    }),
  )
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
    refetchInterval: COUNTS_POLL_MS,
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
                          kind: KIND,
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

const OUTCOMES = [
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
      series: OUTCOMES.map(([key, label, color]) => ({
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
            kind: KIND,
            from: timeOf(from + i * barMs),
            to: timeOf(from + (i + 1) * barMs),
          },
        })
      }
    />
  )
}
