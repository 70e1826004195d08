import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { Database } from '../../db/open.ts'
import type {
  CoreTables,
  LedgerCheckpointRow,
  LedgerCutRow,
  LedgerHeadRow,
} from '../../db/schema.ts'
import { findCut } from './cut.ts'
import { isSize, TILE_WIDTH } from '../format/tiles.ts'

type Db = Database<CoreTables>

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
export async function readState(db: Db, orgId: string): Promise<LedgerState> {
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
  db: Db,
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
  db: Db,
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
export async function hasErasureSince(db: Db, orgId: string, seq: number): Promise<boolean> {
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
