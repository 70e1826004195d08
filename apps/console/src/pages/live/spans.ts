import type { Stats, Entry } from '@remit/contract'
import { readTexts } from '../../format/search.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** Lengths of time that the page counts, each with the bucket of the server and of the chart. */
export const SPANS = {
  '1h': { ms: HOUR_MS, bucket: 'minute', bucketMs: MINUTE_MS, barMs: 2 * MINUTE_MS },
  '24h': { ms: 24 * HOUR_MS, bucket: 'hour', bucketMs: HOUR_MS, barMs: HOUR_MS },
  '7d': { ms: 168 * HOUR_MS, bucket: 'hour', bucketMs: HOUR_MS, barMs: 6 * HOUR_MS },
} as const
export type Span = keyof typeof SPANS

const isSpan = (text: unknown): text is Span =>
  typeof text === 'string' && Object.hasOwn(SPANS, text)

export interface Period {
  readonly span: Span
  /** Milliseconds: of the period before, of this one, and the end. */
  readonly before: number
  readonly from: number
  readonly to: number
}

/** The period until now, and the one of the same length before it. */
export function periodOf(span: Span, now: number): Period {
  const { ms, bucketMs } = SPANS[span]
  const to = Math.ceil(now / bucketMs) * bucketMs
  return { span, before: to - 2 * ms, from: to - ms, to }
}

export interface Sum {
  readonly key: string
  readonly count: number
  readonly before: number
}

/** Counts by value in a period and in the one before, the most frequent first. Pure. */
export function sumsOf({ data }: Pick<Stats, 'data'>, { from, before, to }: Period): Sum[] {
  const sums = new Map<string, { count: number; before: number }>()
  for (const { from: at, key, count } of data) {
    const time = Date.parse(at)
    if (time < before || time >= to) continue
    const sum = sums.get(key) ?? { count: 0, before: 0 }
    sums.set(key, sum)
    if (time >= from) sum.count += count
    else sum.before += count
  }
  return [...sums]
    .map(([key, sum]) => ({ key, ...sum }))
    .toSorted((one, other) => other.count - one.count || (one.key < other.key ? -1 : 1))
}

/** Counts of one value for each bar of the period. Pure. */
export function barsOf({ data }: Pick<Stats, 'data'>, key: string, period: Period): number[] {
  const { barMs, ms } = SPANS[period.span]
  const bars = Array.from({ length: Math.ceil(ms / barMs) }, () => 0)
  for (const one of data) {
    const at = Math.floor((Date.parse(one.from) - period.from) / barMs)
    if (one.key === key && at in bars) bars[at] = (bars[at] ?? 0) + one.count
  }
  return bars
}

/** True if the ledger began before the period: else nothing could be counted before it. Pure. */
export const hasRecordBefore = (start: string | null | undefined, { from }: Period): boolean =>
  typeof start === 'string' && Date.parse(start) < from

/** The change against the period before in percent; null without a base. Pure. */
export const changeOf = ({ count, before }: Omit<Sum, 'key'>): number | null =>
  before === 0 ? null : Math.round(((count - before) / before) * 100)

const readFilter = readTexts('decision', 'agent', 'action', 'reason')
export type LiveFilter = ReturnType<typeof readFilter>

/** The search of the page: its filters, and the length of time that it counts. */
export const readLive = (search: Record<string, unknown>): LiveFilter & { span?: Span } => ({
  ...readFilter(search),
  ...(isSpan(search['span']) && { span: search['span'] }),
})

const has = (text: string | null, part: string | undefined): boolean =>
  part === undefined || (text ?? '').toLowerCase().includes(part.toLowerCase())

export const isMatch = (filter: LiveFilter, entry: Entry): boolean =>
  (filter.decision === undefined || entry.decision === filter.decision) &&
  has(entry.agent_id, filter.agent) &&
  has(entry.action, filter.action) &&
  has(entry.reason, filter.reason)
