import { Outlet, useNavigate, useParams, useSearch, Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState, memo } from 'react'
import type { Entry } from '@remit/contract'
import {
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQueries,
  useQuery,
} from '@tanstack/react-query'
import { useEvents } from '../../api/events.ts'
import { everyPage } from '../../format/csv.ts'
import type { CsvColumn } from '../../format/csv.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { useNarrow } from '../../ui/preferences.ts'
import { CsvButton, CurlButton, Empty, Failure, Skeleton } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { DECISIONS } from './columns.tsx'
import styles from './explorer.module.css'
import { isFiltered, queryOf, withFilter } from './filters.ts'
import type { Filters, FilterName } from './filters.ts'
import { spellOut } from '../../format/literal.ts'
import { Decision, Id, Literal, Time } from '../../ui/values.tsx'
import { remit } from '../../api/client.ts'
import { Input, Select } from '../../ui/field.tsx'

const ROW_PX = 31
/** A card of three lines, where the list is narrow. */
const CARD_PX = 74
/** Rows beyond each edge, drawn and read ahead. */
const AHEAD = 20
const APPEND = { action: 'deploy.finished', actor: 'ci', outcome: 'success' }

export function Explorer() {
  const filters: Filters = useSearch({ from: '/ledger' })
  const { seq } = useParams({ strict: false })
  return (
    <div className={styles['split']} data-open={seq === undefined ? undefined : ''}>
      <div className={styles['list']}>
        <header className={ui['head']}>
          <h1>{t.ledger.title}</h1>
          <GoTo />
          <CsvButton
            name="ledger"
            columns={COLUMNS}
            rows={() => everyPage((cursor) => readEntries(filters, cursor))}
          />
          <CurlButton request={`/v1/ledger${searchOf(filters)}`} />
        </header>
        <FilterBar filters={filters} />
        <List key={JSON.stringify(filters)} filters={filters} open={seq} />
      </div>
      <Outlet />
    </div>
  )
}

function searchOf(filters: Filters): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(queryOf(filters)))
    if (value !== undefined) search.set(name, value)
  return search.size === 0 ? '' : `?${search}`
}

function GoTo() {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  return (
    <form
      className={styles['goto']}
      onSubmit={(event) => {
        event.preventDefault()
        if (/^\d+$/.test(text.trim()))
          void navigate({ to: '/ledger/$seq', params: { seq: text.trim() }, search: true })
      }}
    >
      <input
        className={ui['input']}
        inputMode="numeric"
        aria-label={t.ledger.goTo}
        placeholder={t.ledger.goTo}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit">{t.ledger.go}</Button>
    </form>
  )
}

const HEADINGS = ['seq', 'time', 'kind', 'decision', 'who', 'action', 'resource', 'reason'] as const

function List({ filters, open }: { filters: Filters; open: string | undefined }) {
  const scroller = useRef<HTMLDivElement>(null)
  const head = useQuery(headQuery)
  const [anchor, setAnchor] = useState<number | null>(null)
  const [seen, setSeen] = useState(0)
  useEvents(({ seq }) => setSeen((newest) => Math.max(newest, seq)))
  const isAll = !isFiltered(filters)
  const top = anchor ?? head.data?.seq ?? null

  const [window, setWindow] = useState({ first: 0, last: 40 })
  const all = useAllRows(isAll ? top : null, window.first, window.last)
  const matching = useMatchingRows(filters, window.last)
  const rows = isAll ? all : matching
  const isNarrow = useNarrow()
  const virtual = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? CARD_PX : ROW_PX),
    overscan: AHEAD,
    onChange: ({ range }) => {
      if (range)
        setWindow({ first: Math.max(0, range.startIndex - AHEAD), last: range.endIndex + AHEAD })
    },
  })
  useEffect(() => virtual.measure(), [virtual, isNarrow])
  const newer = isAll && top !== null ? Math.max(seen, head.data?.seq ?? 0) - top : 0

  const error = (isAll ? head.error : null) ?? rows.error
  if (error) return <Failure error={error} onRetry={rows.refetch} />
  if (rows.isLoading) return <Skeleton />
  if (rows.count === 0)
    return (
      <div className={ui['content']}>
        <Empty
          title={t.ledger.empty}
          request={{ method: 'POST', path: '/v1/ledger', body: APPEND }}
        >
          {t.ledger.emptyText}
        </Empty>
      </div>
    )
  return (
    <>
      {newer > 0 && (
        <div className={ui['bar']}>
          <Button
            onClick={() => {
              setAnchor((top ?? 0) + newer)
              scroller.current?.scrollTo({ top: 0 })
            }}
          >
            {t.ledger.newer(newer)}
          </Button>
        </div>
      )}
      <div
        ref={scroller}
        className={styles['scroller']}
        tabIndex={0}
        role="region"
        aria-label={t.ledger.entries}
      >
        <div
          role="table"
          aria-label={t.ledger.entries}
          aria-rowcount={rows.count + 1}
          className={styles['table']}
        >
          <div role="rowgroup">
            <div role="row" aria-rowindex={1} className={styles['headRow']}>
              {HEADINGS.map((name) => (
                <span key={name} role="columnheader">
                  {t.ledger[name]}
                </span>
              ))}
            </div>
          </div>
          <div
            role="rowgroup"
            className={styles['body']}
            style={{ height: virtual.getTotalSize() }}
          >
            {virtual.getVirtualItems().map(({ index, start }) => (
              <LedgerRow
                key={index}
                index={index}
                start={start}
                entry={rows.row(index)}
                isOpen={open !== undefined && rows.row(index)?.seq === Number(open)}
              />
            ))}
          </div>
        </div>
      </div>
    </>
  )
}

interface RowProps {
  readonly index: number
  readonly start: number
  readonly entry: Entry | undefined
  readonly isOpen: boolean
}

const LedgerRow = memo(function LedgerRow({ index, start, entry, isOpen }: RowProps) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={styles['row']}
      data-open={isOpen ? '' : undefined}
      style={{ transform: `translateY(${start}px)` }}
    >
      {entry ? <Cells entry={entry} /> : <span role="cell" className={styles['wait']} />}
    </div>
  )
})

function Cells({ entry }: { entry: Entry }) {
  const { seq, recorded_at, kind, agent_id, actor, action, resource, decision, reason } = entry
  return (
    <>
      <span role="cell">
        <Link to="/ledger/$seq" params={{ seq: String(seq) }} search={true} preload={false}>
          {seq}
        </Link>
      </span>
      <span role="cell">
        <Time at={recorded_at} />
      </span>
      <Literal as="span" role="cell" title={spellOut(kind)}>
        {kind}
      </Literal>
      <span role="cell">{decision !== null && <Decision decision={decision} />}</span>
      <span role="cell">
        {agent_id !== null || actor === null ? (
          <Optional text={agent_id} />
        ) : (
          <Id className={ui['muted'] ?? ''}>{actor.id}</Id>
        )}
      </span>
      <span role="cell">
        <Optional text={action} />
      </span>
      <span role="cell">
        <Optional text={resource} />
      </span>
      <span role="cell" className={ui['muted']}>
        <Optional text={reason} />
      </span>
    </>
  )
}

const Optional = ({ text }: { text: string | null | undefined }) =>
  text ? <Id>{text}</Id> : <span className={styles['none']}>–</span>

const CHUNK = 100
/** The height of a document is limited; older entries are reached by a filter or by their number. */
const MOST_ROWS = 500_000

const headQuery = queryOptions({
  queryKey: ['ledger', 'head'],
  queryFn: async ({ signal }) => (await remit.listEntries({ query: { limit: 1 }, signal })).head,
})

const chunkQuery = (anchor: number, chunk: number) =>
  queryOptions({
    queryKey: ['ledger', 'chunk', anchor, chunk],
    queryFn: ({ signal }) =>
      remit.listEntries({
        query: { fields: 'header', limit: CHUNK, before_seq: anchor - chunk * CHUNK + 1 },
        signal,
      }),
    staleTime: Infinity,
  })

/** One page of the entries that match, without their payloads. */
const readEntries = (filters: Filters, cursor: string | undefined, signal?: AbortSignal) =>
  remit.listEntries({
    query: { ...queryOf(filters), fields: 'header', limit: CHUNK, cursor },
    ...(signal && { signal }),
  })

/** The columns of a list of entries in a file. */
const COLUMNS: readonly CsvColumn<Entry>[] = [
  { name: t.ledger.seq, cell: ({ seq }) => seq },
  { name: t.ledger.time, cell: ({ recorded_at }) => recorded_at },
  { name: t.ledger.kind, cell: ({ kind }) => kind },
  { name: t.ledger.decision, cell: ({ decision }) => decision },
  { name: t.ledger.agent, cell: ({ agent_id }) => agent_id },
  { name: t.ledger.actor, cell: ({ actor }) => actor && `${actor.type} ${actor.id}` },
  { name: t.ledger.action, cell: ({ action }) => action },
  { name: t.ledger.resource, cell: ({ resource }) => resource },
  { name: t.ledger.reason, cell: ({ reason }) => reason },
  { name: t.ledger.fields.hash, cell: ({ hash }) => hash },
]

interface Rows {
  readonly count: number
  /** Undefined while it is loading. */
  readonly row: (index: number) => Entry | undefined
  readonly isLoading: boolean
  readonly error: unknown
  readonly refetch: () => void
}

/**
 * All entries, newest first, for rows `first` to `last`, or to the end. Sequence numbers have no gaps,
 * so a row's number follows from its index and any part can be read on its own.
 */
function useAllRows(anchor: number | null, first: number, last: number): Rows {
  const from = Math.floor(first / CHUNK)
  const chunks = anchor === null ? [] : range(from, Math.floor(Math.min(last, anchor) / CHUNK))
  const answers = useQueries({ queries: chunks.map((chunk) => chunkQuery(anchor ?? 0, chunk)) })
  const total = anchor === null ? 0 : Math.min(anchor + 1, MOST_ROWS)
  // A pruned ledger ends earlier: the chunk with its first entry is short.
  const short = answers.findIndex(({ data }) => data && data.data.length < CHUNK)
  const end = short < 0 ? total : (from + short) * CHUNK + (answers[short]?.data?.data.length ?? 0)
  return {
    count: Math.min(total, end),
    row: (index) => answers[Math.floor(index / CHUNK) - from]?.data?.data[index % CHUNK],
    isLoading: anchor === null,
    error: answers.find(({ error }) => error)?.error ?? null,
    refetch: () => {
      for (const answer of answers) void answer.refetch()
    },
  }
}

/** The entries that match, page after page as the end comes into view. */
function useMatchingRows(filters: Filters, last: number): Rows {
  const pages = useInfiniteQuery({
    queryKey: ['ledger', 'matching', filters],
    enabled: isFiltered(filters),
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => readEntries(filters, pageParam || undefined, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
  })
  const rows = pages.data?.pages.flatMap(({ data }) => data) ?? []
  if (pages.hasNextPage && !pages.isFetching && last >= rows.length - CHUNK / 2)
    queueMicrotask(() => void pages.fetchNextPage())
  return {
    count: rows.length,
    row: (index) => rows[index],
    isLoading: pages.isLoading,
    error: pages.error,
    refetch: () => void pages.refetch(),
  }
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)

const KINDS = [
  ['', t.common.all],
  ...Object.entries(t.ledger.kinds),
] as const satisfies readonly (readonly [string, string])[]

const RARE: readonly FilterName[] = ['actor', 'trace_id', 'decision_id', 'from', 'to']

/** Filters live in the address: a view is a link. */
function FilterBar({ filters }: { filters: Filters }) {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(RARE.some((name) => filters[name] !== undefined))
  const set = (name: FilterName) => (value: string) =>
    void navigate({ to: '.', search: withFilter(filters, name, value) as never, replace: true })
  const kinds =
    filters.kind && !KINDS.some(([kind]) => kind === filters.kind)
      ? [...KINDS, [filters.kind, filters.kind] as const]
      : KINDS
  return (
    <search className={styles['bar']} aria-label={t.ledger.filters}>
      <Text label={t.ledger.agent} value={filters.agent_id} onText={set('agent_id')} />
      <Text
        label={t.ledger.action}
        placeholder={t.ledger.actionHint}
        value={filters.action}
        onText={set('action')}
      />
      <Select
        label={t.ledger.kind}
        options={kinds}
        value={filters.kind ?? ''}
        onValue={set('kind')}
      />
      <Select
        label={t.ledger.decision}
        options={DECISIONS}
        value={filters.decision ?? ''}
        onValue={set('decision')}
      />
      {isOpen && (
        <>
          <Text label={t.ledger.actor} value={filters.actor} onText={set('actor')} />
          <Text label={t.ledger.trace} value={filters.trace_id} onText={set('trace_id')} />
          <Text
            label={t.ledger.decisionId}
            value={filters.decision_id}
            onText={set('decision_id')}
          />
          {(['from', 'to'] as const).map((name) => (
            <Input
              key={name}
              type="datetime-local"
              label={t.ledger[name]}
              value={filters[name] ?? ''}
              onValue={set(name)}
            />
          ))}
        </>
      )}
      {!isOpen && (
        <Button tone="quiet" onClick={() => setOpen(true)}>
          {t.ledger.moreFilters}
        </Button>
      )}
      {isFiltered(filters) && (
        <Button
          tone="quiet"
          onClick={() => {
            setOpen(false)
            void navigate({ to: '.', search: {} as never, replace: true })
          }}
        >
          {t.ledger.clear}
        </Button>
      )}
    </search>
  )
}

interface TextProps {
  readonly label: string
  readonly placeholder?: string
  readonly value: string | undefined
  readonly onText: (text: string) => void
}

/** Applies on Enter and when the field is left, not on every letter. */
function Text({ label, placeholder, value = '', onText }: TextProps) {
  const [draft, setDraft] = useState<string | null>(null)
  const apply = () => {
    if (draft !== null && draft !== value) onText(draft)
    setDraft(null)
  }
  return (
    <Input
      label={label}
      placeholder={placeholder}
      value={draft ?? value}
      onValue={setDraft}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply()
      }}
    />
  )
}
