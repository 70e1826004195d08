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

/** The end of a ledger as of one moment. */
export interface LedgerState {
  readonly head: LedgerHeadRow | null
  /** Where it begins, if it was pruned. */
  readonly cut: LedgerCutRow | null
  /** The lowest and highest sequence number and checkpoint size; null where there is no row. */
  readonly first_seq: number | null
  readonly last_seq: number | null
  readonly last_checkpoint: number | null
  /** Rows of entries that the head does not count. */
  readonly beyond: number
  /** Inner nodes, without those of pruned entries alone. */
  readonly nodes: number
}

type StateRow = LedgerHeadRow & Omit<LedgerState, 'head' | 'cut'>

/**
 * Reads, in one statement and so in one snapshot on either database, what appends change. All other
 * rows are final, so that they can be read afterwards in any number of statements. The cut is read
 * before: pruning moves it on, and whoever has walked in vain looks at it again.
 */
export async function readState(db: Db, orgId: string): Promise<LedgerState> {
  const cut = await findCut(db, orgId)
  // SQLite stores texts and blobs in a column of numbers, and sorts them behind every number.
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
  if (!first) throw new Error('a query over a constant gave no row')
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

/** How many nodes there are that do not lie below the cut as a whole. */
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

/** A half-open piece of a keyset: above `after` (from the lowest, if null) and below `below`. */
export interface Keys {
  readonly after: number | null
  readonly below: number
}

/** The kept checkpoints of some sizes, in order; at most so many, if there is a bound. */
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

/** Up to `limit` stored nodes of a level from index `from` on, by index. */
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

/** Whether a payload was erased by an entry of `seq` or later. */
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
