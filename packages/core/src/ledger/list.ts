import type { LedgerFilters } from '@remit/contract'
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { likePattern } from '../patterns.ts'
import type { CoreTables } from '../db/schema.ts'
import type { StoredEntry } from './entry.ts'
import { STORED } from './store.ts'

/** Sequence numbers looked through in one query: a rare match must not hold the database for long. */
const WINDOW = 20_000

type Query = Omit<LedgerFilters, 'cursor' | 'from' | 'to'>

/** Half-open range of sequence numbers. */
export interface SeqRange {
  readonly from: number
  readonly to: number
}

/** Entries read at once, of up to 256 KiB each. */
const PIECE = 100

/** Characters of payloads after which a page ends, whatever number was asked for. */
const MAX_CHARACTERS = 8_000_000

export interface ListPage {
  readonly entries: readonly StoredEntry[]
  /** It ended before `limit` and before the end of the range: there may be more. */
  readonly isCut: boolean
}

/**
 * Up to `limit` matching entries of a range, in the order asked for, fewer where they are large. Reads
 * window by window, so other work gets its turn in between.
 */
export async function listEntries(
  db: Database<CoreTables>,
  orgId: string,
  range: SeqRange,
  query: Query,
): Promise<ListPage> {
  const entries: StoredEntry[] = []
  const ascending = query.order === 'asc'
  let characters = 0
  let { from, to } = range
  // An index finds the entries of one agent at once, wherever they are.
  const window = query.agent_id === undefined ? WINDOW : Infinity
  while (from < to && entries.length < query.limit && characters < MAX_CHARACTERS) {
    const lower = ascending ? from : Math.max(from, to - window)
    const upper = ascending ? Math.min(to, from + window) : to
    const limit = Math.min(PIECE, query.limit - entries.length)
    const rows = await readWindow(db, orgId, { from: lower, to: upper }, query, limit)
    entries.push(...rows)
    for (const { payload } of rows) characters += payload?.length ?? 0
    const last = rows.length === limit ? rows.at(-1) : undefined
    if (ascending) from = last ? last.seq + 1 : upper
    else to = last?.seq ?? lower
  }
  return { entries, isCut: entries.length < query.limit && from < to }
}

function readWindow(
  db: Database<CoreTables>,
  orgId: string,
  range: SeqRange,
  query: Query,
  limit: number,
): Promise<StoredEntry[]> {
  let select = db
    .selectFrom('ledger_entry')
    .select(STORED)
    .where('org_id', '=', orgId)
    .where('seq', '>=', range.from)
    .where('seq', '<', range.to)
  if (query.agent_id !== undefined) select = select.where('agent_id', '=', query.agent_id)
  if (query.actor !== undefined) select = select.where('actor_id', '=', query.actor)
  if (query.kind !== undefined) select = select.where('kind', '=', query.kind)
  if (query.decision !== undefined) select = select.where('decision', '=', query.decision)
  if (query.action?.includes('*')) {
    select = select.where(sql<boolean>`action ${likePattern(db, query.action)}`)
  } else if (query.action !== undefined) select = select.where('action', '=', query.action)
  return select.orderBy('seq', query.order).limit(limit).execute()
}

/** The first number of a range whose entry is not before `time`; its end when all are. Times never fall. */
export async function seqAtTime(
  db: Database<CoreTables>,
  orgId: string,
  { from, to }: SeqRange,
  time: string,
): Promise<number> {
  let low = from
  let high = to
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const entry = await db
      .selectFrom('ledger_entry')
      .select('recorded_at')
      .where('org_id', '=', orgId)
      .where('seq', '=', middle)
      .executeTakeFirst()
    if (entry !== undefined && entry.recorded_at >= time) high = middle
    else low = middle + 1
  }
  return low
}
