import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import type { Entry } from '@remit/contract'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useCan } from '../../api/session.ts'
import { isShown, PAGES } from '../../shell/pages.ts'
import { t } from '../../texts.ts'
import { Choice, Input, Select } from '../../ui/field.tsx'
import { Page, Stack, Card, Row, Table } from '../../ui/layout.tsx'
import { CurlButton, Empty, Failure, Note, Skeleton } from '../../ui/states.tsx'
import { Counters } from './counters.tsx'
import { isMatch, isSpan, SPANS } from './spans.ts'
import type { LiveFilter, Span } from './spans.ts'
import { FirstSteps } from './first-steps.tsx'
import { Button } from '../../ui/button.tsx'
import ui from '../../ui/ui.module.css'
import { SEQ_COLUMN } from '../ledger/seq-column.tsx'
import { Decided } from '../decisions/decided.tsx'
import { remit } from '../../api/client.ts'
import { useEvents } from '../../api/events.ts'
import { useNow } from '../../ui/values.tsx'

const DECISIONS = [
  ['', t.common.all],
  ['allow', 'allow'],
  ['deny', 'deny'],
  ['needs_approval', 'needs approval'],
] as const

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
  const decisions = useDecisions()
  const set = (name: keyof LiveFilter | 'span') => (value: string) =>
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
            options={Object.keys(SPANS)
              .filter(isSpan)
              .map((one) => [one, t.live.spans[one]])}
            onValue={set('span')}
          />
          <CurlButton
            request={() => ({ method: 'GET', path: '/v1/ledger?kind=authorization.decided' })}
          />
        </>
      }
    >
      <Stack>
        <FirstSteps />
        <Counters span={span} />
        <DecisionStream
          decisions={decisions}
          isInFilter={(entry) => isMatch(filter, entry)}
          filters={
            <>
              <Select
                label={t.live.decision}
                options={DECISIONS}
                value={filter.decision ?? ''}
                onValue={set('decision')}
              />
              <Input label={t.live.agent} value={filter.agent ?? ''} onValue={set('agent')} />
              <Input label={t.live.action} value={filter.action ?? ''} onValue={set('action')} />
              <Input label={t.live.reason} value={filter.reason ?? ''} onValue={set('reason')} />
            </>
          }
        />
      </Stack>
    </Page>
  )
}

const ASK = {
  method: 'POST',
  path: '/v1/authorize',
  body: { agent_id: 'payer', action: 'payments.transfer', context: { amount_usd: 60 } },
}

interface DecisionStreamProps {
  readonly decisions: Decisions
  readonly isInFilter: (entry: Entry) => boolean
  readonly filters: ReactNode
}

function DecisionStream({ decisions, isInFilter, filters }: DecisionStreamProps) {
  const { stream, error, isLoading, hasStream, pause, resume } = decisions
  const rows = stream.shown.filter(isInFilter)
  return (
    <Card
      title={t.live.stream}
      actions={
        <Row>
          {stream.isPaused && (
            <span className={ui['muted']}>{t.live.paused(stream.waiting.length)}</span>
          )}
          <Button onClick={stream.isPaused ? resume : pause}>
            {stream.isPaused ? t.live.resume : t.live.pause}
          </Button>
        </Row>
      }
    >
      <Stack>
        <Row>{filters}</Row>
        {stream.isSampled && <Note tone="wait">{t.live.sampled}</Note>}
        {!hasStream && <p className={ui['hint']}>{t.live.noStream}</p>}
        {error ? <Failure error={error} /> : null}
        {isLoading && <Skeleton />}
        {!isLoading && rows.length === 0 && (
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
              { name: t.ledger.time, value: ({ recorded_at }) => recorded_at, as: 'time' },
              {
                name: t.ledger.decision,
                value: ({ decision }) => decision,
                cell: (entry) => <Decided entry={entry} />,
              },
              { name: t.ledger.agent, value: ({ agent_id }) => agent_id, as: 'id' },
              { name: t.ledger.action, value: ({ action }) => action, as: 'id' },
              { name: t.ledger.resource, value: ({ resource }) => resource, as: 'id' },
              { name: t.ledger.reason, value: ({ reason }) => reason },
            ]}
          />
        )}
      </Stack>
    </Card>
  )
}

const KIND = 'authorization.decided'
const POLL_MS = 5_000

interface Decisions {
  readonly stream: Stream
  readonly now: number
  readonly error: unknown
  readonly isLoading: boolean
  readonly hasStream: boolean
  readonly pause: () => void
  readonly resume: () => void
}

/** Decisions as they are made: the newest ones, then each event; where there is no stream, polled. */
function useDecisions(): Decisions {
  const can = useCan()
  const hasStream = can('GET /v1/ledger/events')
  const now = useNow(5_000)
  const [stream, setStream] = useState<Stream>(EMPTY_STREAM)
  const first = useQuery({
    queryKey: ['ledger', 'live'],
    queryFn: ({ signal }) => remit.listEntries({ query: { kind: KIND, limit: 50 }, signal }),
    refetchInterval: hasStream ? false : POLL_MS,
  })
  useEvents((entry) => {
    if (entry.kind === KIND) setStream((before) => withEntries(before, [entry], Date.now()))
  })
  return {
    stream: withHistory(stream, first.data?.data ?? []),
    now,
    error: first.error,
    isLoading: first.isLoading,
    hasStream,
    pause: () => setStream(paused),
    resume: () => setStream(resumed),
  }
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

/** The stream with further entries; each entry once, whatever the order of their arrival. */
function withEntries(stream: Stream, entries: readonly Entry[], now: number): Stream {
  const second = Math.floor(now / 1000)
  const already = second === stream.second ? stream.inSecond : 0
  const inSecond = already + entries.length
  const taken = entries.slice(0, Math.max(0, MOST_PER_SECOND - already))
  const counted = {
    second,
    inSecond,
    isSampled: inSecond > MOST_PER_SECOND || (stream.isSampled && second === stream.second),
  }
  if (stream.isPaused)
    return { ...stream, ...counted, waiting: newestFirst([...taken, ...stream.waiting]) }
  return { ...stream, ...counted, shown: newestFirst([...taken, ...stream.shown]) }
}

/** The stream with entries from before it began, which are no burst. */
const withHistory = (stream: Stream, entries: readonly Entry[]): Stream => ({
  ...stream,
  shown: newestFirst([...stream.shown, ...entries]),
})

const paused = (stream: Stream): Stream => ({ ...stream, isPaused: true })

const resumed = (stream: Stream): Stream => ({
  ...stream,
  isPaused: false,
  waiting: [],
  shown: newestFirst([...stream.waiting, ...stream.shown]),
})
