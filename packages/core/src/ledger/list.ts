import type { LedgerFilters } from '@remit/contract'
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { Database } from '../db/open.ts'
import { dialectOf } from '../db/portable.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import { likePattern } from '../patterns.ts'
import type { CoreTables } from '../db/schema.ts'
import type { EntryPayload, StoredEntry } from './entry.ts'
import { STORED } from './store.ts'

/** Sequence numbers looked through in one query: a rare match must not hold the database for long. */
const WINDOW = 20_000
/** The same where payloads are searched. */
const SEARCH_WINDOW = 5_000

type Query = Omit<LedgerFilters, 'cursor' | 'from' | 'to'>

/** Half-open range of sequence numbers. */
export interface SeqRange {
  readonly from: number
  readonly to: number
}

/** Kind of what callers append. */
const APPENDED = 'entry.appended'

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
  const isSearch = query.trace_id !== undefined || query.decision_id !== undefined
  const window = isSearch ? SEARCH_WINDOW : query.agent_id === undefined ? WINDOW : Infinity
  while (from < to && entries.length < query.limit && characters < MAX_CHARACTERS) {
    const lower = ascending ? from : Math.max(from, to - window)
    const upper = ascending ? Math.min(to, from + window) : to
    const limit = Math.min(PIECE, query.limit - entries.length)
    const rows = await readWindow(db, orgId, { from: lower, to: upper }, query, limit)
    entries.push(...rows.filter((row) => says(row, query)))
    for (const { payload } of rows) characters += payload?.length ?? 0
    const last = rows.length === limit ? rows.at(-1) : undefined
    if (ascending) from = last ? last.seq + 1 : upper
    else to = last?.seq ?? lower
  }
  return { entries, isCut: entries.length < query.limit && from < to }
}

/** Candidates: `says` has the last word. */
async function readWindow(
  db: Database<CoreTables>,
  orgId: string,
  range: SeqRange,
  query: Query,
  limit: number,
): Promise<StoredEntry[]> {
  const { agent_id: agent, order, kind } = query
  const candidates = () => selected(db, orgId, range, query).orderBy('seq', order).limit(limit)
  if (agent === undefined) return candidates().execute()
  const about = await candidates().where('agent_id', '=', agent).execute()
  if (kind !== undefined && kind !== APPENDED) return about
  // A query of its own: each is read in the order of its index, and none is sorted.
  const by = await candidates()
    // Word by word the condition of the index `ledger_entry_appended_by`.
    .where(sql<boolean>`kind = 'entry.appended'`)
    .where('actor_id', '=', agent)
    .where((or) => or.or([or('agent_id', 'is', null), or('agent_id', '<>', agent)]))
    .execute()
  if (by.length === 0) return about
  const sign = order === 'asc' ? 1 : -1
  return [...about, ...by].toSorted((a, b) => sign * (a.seq - b.seq)).slice(0, limit)
}

function selected(db: Database<CoreTables>, orgId: string, range: SeqRange, query: Query) {
  let select = db
    .selectFrom('ledger_entry')
    .select(STORED)
    .where('org_id', '=', orgId)
    .where('seq', '>=', range.from)
    .where('seq', '<', range.to)
  if (query.actor !== undefined) select = select.where('actor_id', '=', query.actor)
  if (query.kind !== undefined) select = select.where('kind', '=', query.kind)
  if (query.decision !== undefined) select = select.where('decision', '=', query.decision)
  if (query.action?.includes('*')) {
    select = select.where(sql<boolean>`action ${likePattern(db, query.action)}`)
  } else if (query.action !== undefined) select = select.where('action', '=', query.action)
  for (const name of ['trace_id', 'decision_id'] as const) {
    const value = query[name]
    if (value !== undefined) select = select.where(holds(db, `"${name}":${canonicalJson(value)}`))
  }
  return select
}

/** Whether the text of a payload holds another text. */
const holds = (db: Database<CoreTables>, text: string): RawBuilder<boolean> =>
  dialectOf(db) === 'sqlite' ? sql`instr(payload, ${text}) > 0` : sql`strpos(payload, ${text}) > 0`

/** Whether an entry says what is asked for, and not only holds its text somewhere in free data. */
function says({ payload }: StoredEntry, { agent_id, trace_id, decision_id }: Query): boolean {
  if (agent_id === undefined && trace_id === undefined && decision_id === undefined) return true
  if (payload === null) return false
  const { actor, data, ...entry } = JSON.parse(payload) as EntryPayload
  if (trace_id !== undefined && data['trace_id'] !== trace_id) return false
  if (decision_id !== undefined && data['decision_id'] !== decision_id) return false
  if (agent_id === undefined || entry.agent_id === agent_id) return true
  return actor.type === 'agent' && actor.id === agent_id
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
