import type { Entry } from '@remit/contract'
import {
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQueries,
  useQuery,
} from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import type { CsvColumn } from '../../format/csv.ts'
import { t } from '../../texts.ts'
import { isFiltered, queryOf } from './filters.ts'
import type { Filters } from './filters.ts'

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
export const readEntries = (filters: Filters, cursor: string | undefined, signal?: AbortSignal) =>
  remit.listEntries({
    query: { ...queryOf(filters), fields: 'header', limit: CHUNK, cursor },
    ...(signal && { signal }),
  })

/** The columns of a list of entries in a file. */
export const COLUMNS: readonly CsvColumn<Entry>[] = [
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

export interface Rows {
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
export function useAllRows(anchor: number | null, first: number, last: number): Rows {
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
export function useMatchingRows(filters: Filters, last: number): Rows {
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

export const useHead = () => useQuery(headQuery)

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
