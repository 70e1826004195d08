import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import type {
  CoreTables,
  LedgerCheckpointRow,
  LedgerEntryRow,
  LedgerHeadRow,
} from '../db/schema.ts'
import { TILE_WIDTH } from './tiles.ts'

type Db = Database<CoreTables>

/** Levels of growing tiles that a ledger of 2^53 entries can have. */
const LEVELS = [1, 2, 3, 4, 5, 6] as const

/** The end of a ledger as of one moment. */
export interface LedgerState {
  readonly head: LedgerHeadRow | null
  /** The highest sequence number and checkpoint size there are; null where there is no row. */
  readonly last_seq: number | null
  readonly last_checkpoint: number | null
  readonly tiles: number
  /** By level, the unfinished tile at the right edge of a tree of the head's size. */
  readonly partial: ReadonlyMap<number, string | null>
}

type StateRow = LedgerHeadRow &
  Pick<LedgerState, 'last_seq' | 'last_checkpoint' | 'tiles'> & {
    readonly level: number
    readonly hashes: string | null
  }

/**
 * Reads, in one statement and so in one snapshot on either database, what appends change. All other
 * rows are final, so that they can be read afterwards in any number of statements.
 */
export async function readState(db: Db, orgId: string): Promise<LedgerState> {
  const levels = sql.raw(LEVELS.map((level) => `(${level}, ${TILE_WIDTH ** level})`).join(', '))
  const { rows } = await sql<StateRow>`
    with level (level, span) as (values ${levels})
    select h.*, l.level, t.hashes,
      (select max(e.seq) from ledger_entry e where e.org_id = ${orgId}) as last_seq,
      (select max(c.size) from ledger_checkpoint c where c.org_id = ${orgId}) as last_checkpoint,
      (select count(*) from ledger_tile n where n.org_id = ${orgId}) as tiles
    from level l
    left join ledger_head h on h.org_id = ${orgId}
    left join ledger_tile t
      on t.org_id = h.org_id and t.level = l.level and t.idx = h.size / l.span / ${sql.raw(String(TILE_WIDTH))}
  `.execute(db)
  const [first] = rows
  if (!first) throw new Error('a query over constants gave no row')
  const { level: _level, hashes: _hashes, last_seq, last_checkpoint, tiles, ...head } = first
  return {
    head: first.org_id === null ? null : head,
    last_seq,
    last_checkpoint,
    tiles,
    partial: new Map(rows.map((row) => [row.level, row.hashes])),
  }
}

/** A half-open piece of a keyset: above `after` (from the lowest, if null) and below `below`. */
export interface Keys {
  readonly after: number | null
  readonly below: number
}

/** Up to `limit` entries in order, with the copies of payload fields that filters use. */
export function readRows(
  db: Db,
  orgId: string,
  { after, below }: Keys,
  limit: number,
): Promise<LedgerEntryRow[]> {
  let query = db.selectFrom('ledger_entry').selectAll().where('org_id', '=', orgId)
  if (after !== null) query = query.where('seq', '>', after)
  return query.where('seq', '<', below).orderBy('seq').limit(limit).execute()
}

/** The kept checkpoints of some sizes, in order. */
export function readCheckpoints(
  db: Db,
  orgId: string,
  { after, below }: Keys,
): Promise<LedgerCheckpointRow[]> {
  let query = db.selectFrom('ledger_checkpoint').selectAll().where('org_id', '=', orgId)
  if (after !== null) query = query.where('size', '>', after)
  return query.where('size', '<', below).orderBy('size').execute()
}

/** Stored tiles of a level from index `from` to `to`, by index. */
export async function readTiles(
  db: Db,
  orgId: string,
  level: number,
  from: number,
  to: number,
): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('ledger_tile')
    .select(['idx', 'hashes'])
    .where('org_id', '=', orgId)
    .where('level', '=', level)
    .where('idx', '>=', from)
    .where('idx', '<=', to)
    .execute()
  return new Map(rows.map(({ idx, hashes }) => [idx, hashes]))
}

/** Whether a payload was erased by an entry of `seq` or later. */
export async function hasErasureSince(db: Db, orgId: string, seq: number): Promise<boolean> {
  const row = await db
    .selectFrom('ledger_entry')
    .select('seq')
    .where('org_id', '=', orgId)
    .where('seq', '>=', seq)
    .where('kind', '=', 'ledger.erased')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
