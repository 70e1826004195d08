import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import type { Entry } from '@remit/contract'
import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useCan } from '../../api/session.ts'
import { isShown, PAGES } from '../../shell/pages.ts'
import { t } from '../../texts.ts'
import { Choice, Input, Select } from '../../ui/field.tsx'
import { Page, Stack, Card, Row, Table } from '../../ui/layout.tsx'
import { CurlButton, Empty, Failure, Note, Skeleton } from '../../ui/states.tsx'
import { Counters } from './counters.tsx'
import { isMatch } from './spans.ts'
import type { LiveFilter, Span } from './spans.ts'
import { FirstSteps } from './first-steps.tsx'
import { Button } from '../../ui/button.tsx'
import ui from '../../ui/ui.module.css'
import {
  DECISION_COLUMN,
  DECISIONS,
  REQUEST_COLUMNS,
  SEQ_COLUMN,
  TIME_COLUMN,
} from '../ledger/columns.tsx'
import { remit } from '../../api/client.ts'
import { useEvents } from '../../api/events.ts'
import { useNow } from '../../ui/values.tsx'

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
