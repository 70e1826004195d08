import { setImmediate } from 'node:timers/promises'
import type { LedgerFilters } from '@remit/contract'
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { canonicalJson } from '@remit/contract/json'
import type { Database } from '../../db/open.ts'
import { dialectOf, likePattern } from '../../db/portable.ts'
import type {
  CoreTables,
  LedgerCheckpointRow,
  LedgerCutRow,
  LedgerHeadRow,
} from '../../db/schema.ts'
import type { EntryPayload, StoredEntry } from '../format/entry.ts'
import { BYTES, slicesOf, inRange, STORED } from './store.ts'
import type { SeqRange, EntrySize } from './store.ts'
import { findCut } from './cut.ts'
import { isSize, TILE_WIDTH } from '../format/merkle.ts'

type Db = Database<CoreTables>
type Query = Omit<LedgerFilters, 'cursor' | 'from' | 'to'>

/** Kinds of the entries that callers append. Each has an index of its actors. */
const APPENDED = ['entry.appended', 'enforcement.gap'] as const

/** Bytes of payloads after which a page ends, regardless of the requested number. */
const MAX_BYTES = 1_000_000

/** Sequence numbers per query: a rare match must not occupy the database for long. */
const WINDOW = { payloads: 20, least: 200, most: 20_000 }
const WINDOW_MS = 5
/** Bytes of payloads per search in them: two or three milliseconds. */
const SEARCHED_BYTES = 512 * 1024

/** Runs a query of a long search when it is its turn. */
export type Pace = <T>(query: () => Promise<T>) => Promise<T>

const atOnce: Pace = (query) => query()

/** The entries of a page, in the requested order. */
export interface PagePlan {
  readonly pieces: readonly SeqRange[]
  /** The last examined number, if the page ends before the range; else null. */
  readonly rest: number | null
  /** True if the page can be read at once. */
  readonly isSmall: boolean
}

/**
 * Finds up to `limit` candidates of a range, fewer if they are large. Searches window by window and
 * yields in between; `pace` runs all windows but the first. With `once`, only the first window, and null if
 * that is not enough.
 */
export async function planPage(
  db: Db,
  orgId: string,
  range: SeqRange,
  query: Query,
  { once = false, pace = atOnce }: { readonly once?: boolean; readonly pace?: Pace } = {},
): Promise<PagePlan | null> {
  const found: EntrySize[] = []
  const isAscending = query.order === 'asc'
  let { from, to } = range
  let bytes = 0
  let window = firstWindow(query)
  const isDone = () => from >= to || found.length >= query.limit || bytes >= MAX_BYTES
  for (let looked = 0; !isDone(); looked++) {
    if (looked > 0 && once) return null
    if (looked > 0) await setImmediate()
    const limit = query.limit - found.length
    const search = async () => {
      const began = performance.now()
      const whole = isAscending
        ? { from, to: Math.min(to, from + window) }
        : { from: Math.max(from, to - window), to }
      const part =
        looked > 0 && looksIntoPayloads(query) ? await searchable(db, orgId, whole, query) : whole
      const rows = await sizesIn(db, orgId, part, query, limit)
      window = next(part.to - part.from, performance.now() - began)
      return { part, rows }
    }
    const { part, rows } = await (looked > 0 ? pace(search) : search())
    let last = rows.length === limit ? rows.at(-1) : undefined
    for (const row of rows) {
      found.push(row)
      bytes += row.bytes ?? 0
      if (bytes < MAX_BYTES) continue
      last = row
      break
    }
    if (isAscending) from = last ? last.seq + 1 : part.to
    else to = last?.seq ?? part.from
  }
  const pieces = slicesOf(found)
  return {
    pieces,
    rest: from < to ? (isAscending ? from - 1 : to) : null,
    isSmall: pieces.length <= 1,
  }
}

/** Returns true if the filters of a query are in payloads, which have no index. */
export const looksIntoPayloads = ({ trace_id, decision_id }: Query): boolean =>
  trace_id !== undefined || decision_id !== undefined

function firstWindow(query: Query): number {
  if (isIndexed(query)) return Infinity
  return looksIntoPayloads(query) ? WINDOW.payloads : WINDOW.least
}

/** Returns true if an index finds the matches directly. */
const isIndexed = (query: Query): boolean =>
  query.agent_id !== undefined &&
  !looksIntoPayloads(query) &&
  [query.actor, query.kind, query.decision, query.action].every((filter) => filter === undefined)

/**
 * Returns the next window size after a query of some milliseconds: large entries take longer. Not less than
 * a query costs by itself, to a database that is far away or on a busy machine.
 */
const next = (window: number, ms: number): number =>
  Math.min(WINDOW.most, Math.max(WINDOW.least, ms < WINDOW_MS ? window * 2 : window / 2))

/** Returns the first part of a range, in the order of a query, whose payloads can be searched at once. */
async function searchable(
  db: Db,
  orgId: string,
  { from, to }: SeqRange,
  query: Query,
): Promise<SeqRange> {
  const isAscending = query.order === 'asc'
  const total = sql<number>`sum(octet_length(payload)) over (order by seq ${sql.raw(query.order)})`
  const sums = matchingColumns(db, orgId, { from, to }, query).select(['seq', total.as('total')])
  const { seq } = await db
    .selectFrom(sums.as('sums'))
    .where('total', '>', SEARCHED_BYTES)
    .select(({ fn }) => (isAscending ? fn.min('seq') : fn.max('seq')).as('seq'))
    .executeTakeFirstOrThrow()
  if (seq === null) return { from, to }
  return isAscending ? { from, to: seq + 1 } : { from: seq, to }
}

/** Returns the sizes of up to `limit` candidates; `says` decides on each. */
async function sizesIn(
  db: Db,
  orgId: string,
  range: SeqRange,
  query: Query,
  limit: number,
): Promise<EntrySize[]> {
  const parts = partsOf(db, orgId, range, query).map((select) =>
    select.select(['seq', BYTES]).orderBy('seq', query.order).limit(limit).execute(),
  )
  return inOrder((await Promise.all(parts)).flat(), query).slice(0, limit)
}

/** Returns the first matching entry of a range. */
export async function findFirst(
  db: Db,
  orgId: string,
  { from, to }: SeqRange,
  query: Omit<Query, 'limit' | 'order'>,
  pace?: Pace,
): Promise<StoredEntry | undefined> {
  const first = { ...query, order: 'asc', limit: 1 } as const
  for (let begin: number | null = from; begin !== null;) {
    const plan: PagePlan | null = await planPage(db, orgId, { from: begin, to }, first, {
      ...(pace && { pace }),
    })
    for (const piece of plan?.pieces ?? []) {
      const [entry] = await readPiece(db, orgId, piece, first)
      if (entry) return entry
    }
    const rest: number | null = plan?.rest ?? null
    begin = rest === null ? null : rest + 1
  }
  return undefined
}

/** Returns the matching entries of a slice, in the requested order. */
export async function readPiece(
  db: Db,
  orgId: string,
  piece: SeqRange,
  query: Query,
): Promise<StoredEntry[]> {
  const parts = partsOf(db, orgId, piece, query).map((select) =>
    select.select(STORED).orderBy('seq', query.order).execute(),
  )
  return inOrder((await Promise.all(parts)).flat(), query).filter((row) => says(row, query))
}

function inOrder<T extends { readonly seq: number }>(rows: T[], { order }: Query): T[] {
  const sign = order === 'asc' ? 1 : -1
  return rows.toSorted((a, b) => sign * (a.seq - b.seq))
}

/**
 * Returns queries that together have every candidate once: each is read in the order of its index.
 */
function partsOf(db: Db, orgId: string, range: SeqRange, query: Query) {
  const { agent_id: agent, kind } = query
  const candidates = () => matching(db, orgId, range, query)
  if (agent === undefined) return [candidates()]
  const about = candidates().where(isAbout(db, agent))
  const by = APPENDED.filter((appended) => kind === undefined || kind === appended).map(
    (appended) =>
      candidates()
        // A literal, as in the condition of the index.
        .where('kind', '=', sql.lit(appended))
        .where('actor_id', '=', agent)
        .where((or) => or.or([or('agent_id', 'is', null), or('agent_id', '<>', agent)])),
  )
  return [about, ...by]
}

/** Without statistics, SQLite would search the whole range unless it is told that agents have few entries. */
const isAbout = (db: Db, agent: string): RawBuilder<boolean> =>
  dialectOf(db) === 'sqlite' ? sql`unlikely(agent_id = ${agent})` : sql`agent_id = ${agent}`

function matching(db: Db, orgId: string, range: SeqRange, query: Query) {
  let select = matchingColumns(db, orgId, range, query)
  for (const name of ['trace_id', 'decision_id'] as const) {
    const value = query[name]
    if (value !== undefined) select = select.where(holds(db, `"${name}":${canonicalJson(value)}`))
  }
  return select
}

function matchingColumns(db: Db, orgId: string, range: SeqRange, query: Query) {
  let select = inRange(db, orgId, range)
  if (query.actor !== undefined) select = select.where('actor_id', '=', query.actor)
  if (query.kind !== undefined) select = select.where('kind', '=', query.kind)
  if (query.decision !== undefined) select = select.where('decision', '=', query.decision)
  if (query.action?.includes('*')) {
    select = select.where(sql<boolean>`action ${likePattern(db, query.action)}`)
  } else if (query.action !== undefined) select = select.where('action', '=', query.action)
  return select
}

/** Returns the condition that a payload text contains another text. */
const holds = (db: Db, text: string): RawBuilder<boolean> =>
  dialectOf(db) === 'sqlite' ? sql`instr(payload, ${text}) > 0` : sql`strpos(payload, ${text}) > 0`

/** Checks that an entry matches the query by its members, not only by text in free-form data. */
function says({ payload }: StoredEntry, { agent_id, trace_id, decision_id }: Query): boolean {
  if (agent_id === undefined && trace_id === undefined && decision_id === undefined) return true
  if (payload === null) return false
  const { actor, data, ...entry } = JSON.parse(payload) as EntryPayload
  if (trace_id !== undefined && data['trace_id'] !== trace_id) return false
  if (decision_id !== undefined && data['decision_id'] !== decision_id) return false
  if (agent_id === undefined || entry.agent_id === agent_id) return true
  return actor.type === 'agent' && actor.id === agent_id
}

/**
 * Returns the first number of a range whose entry is not before `time`, or the end of the range.
 * Times never decrease.
 */
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

type PagesDb = Database<CoreTables>

/** The end of a ledger at one point in time. */
export interface LedgerState {
  readonly head: LedgerHeadRow | null
  /** The cut, if it was pruned. */
  readonly cut: LedgerCutRow | null
  /** The lowest and highest sequence number and checkpoint size; null without rows. */
  readonly first_seq: number | null
  readonly last_seq: number | null
  readonly last_checkpoint: number | null
  /** Rows of entries above the size of the head. */
  readonly beyond: number
  /** Inner nodes, without those of pruned entries only. */
  readonly nodes: number
}

type StateRow = LedgerHeadRow & Omit<LedgerState, 'head' | 'cut'>

/**
 * Reads the parts that appends change in one statement, and so in one snapshot on either database.
 * All other rows are final and can be read later in any number of statements. The cut is read
 * before: pruning moves it, so callers that find missing rows must read it again.
 */
export async function readState(db: PagesDb, orgId: string): Promise<LedgerState> {
  const cut = await findCut(db, orgId)
  // SQLite stores texts and blobs in a column of numbers, and sorts them after every number.
  const { rows } = await sql<StateRow>`
    select h.*,
      (select min(e.seq) from ledger_entry e where e.org_id = ${orgId}) as first_seq,
      (select max(e.seq) from ledger_entry e
        where e.org_id = ${orgId} and e.seq <= ${Number.MAX_SAFE_INTEGER}) as last_seq,
      (select count(*) from ledger_entry e where e.org_id = ${orgId} and e.seq >= h.size) as beyond,
      (select max(c.size) from ledger_checkpoint c where c.org_id = ${orgId}) as last_checkpoint,
      ${countNodes(orgId, cut?.size ?? 0)} as nodes
    from (select 1 as one) always
    left join ledger_head h on h.org_id = ${orgId}
  `.execute(db)
  const [first] = rows
  if (!first) throw new Error('a query without a table returned no row')
  const { first_seq, last_seq, last_checkpoint, beyond, nodes, ...head } = first
  return {
    head: first.org_id === null ? null : head,
    cut: cut ?? null,
    first_seq,
    last_seq,
    last_checkpoint,
    beyond,
    nodes,
  }
}

/** 256^level is above 2^53 from level 7 on. */
const LEVELS = [1, 2, 3, 4, 5, 6]

/** Counts the nodes that are not completely below the cut. */
function countNodes(orgId: string, cut: number): RawBuilder<number> {
  const all = sql<number>`(select count(*) from ledger_node n where n.org_id = ${orgId})`
  if (!isSize(cut) || cut === 0) return all
  const below = LEVELS.map((level) => {
    const idx = Math.floor(cut / TILE_WIDTH ** level)
    return sql`(n.level = ${level} and n.idx < ${idx})`
  })
  return sql<number>`(select count(*) from ledger_node n where n.org_id = ${orgId}
    and not (${sql.join(below, sql` or `)}))`
}

/** A half-open range of keys: above `after` (from the lowest, if null) and below `below`. */
export interface Keys {
  readonly after: number | null
  readonly below: number
}

/** Returns the stored checkpoints of a range of sizes, in order, with an optional limit. */
export function readCheckpoints(
  db: PagesDb,
  orgId: string,
  { after, below }: Keys,
  most?: number,
): Promise<LedgerCheckpointRow[]> {
  let query = db.selectFrom('ledger_checkpoint').selectAll().where('org_id', '=', orgId)
  if (after !== null) query = query.where('size', '>', after)
  if (most !== undefined) query = query.limit(most)
  return query.where('size', '<', below).orderBy('size').execute()
}

/** Returns up to `limit` stored nodes of a level from index `from` on, by index. */
export async function readNodes(
  db: PagesDb,
  orgId: string,
  level: number,
  from: number,
  limit: number,
): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('ledger_node')
    .select(['idx', 'hash'])
    .where('org_id', '=', orgId)
    .where('level', '=', level)
    .where('idx', '>=', from)
    .where('idx', '<', from + limit)
    .execute()
  return new Map(rows.map(({ idx, hash }) => [idx, hash]))
}

/** Returns true if an entry with `seq` or later erased a payload. */
export async function hasErasureSince(db: PagesDb, orgId: string, seq: number): Promise<boolean> {
  const row = await db
    .selectFrom('ledger_entry')
    .select('seq')
    .where('org_id', '=', orgId)
    .where('seq', '>=', seq)
    .where(sql<boolean>`kind >= 'ledger.' and kind < 'ledger/'`)
    .where('kind', '=', 'ledger.erased')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
