import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../db/open.ts'
import type { CoreTables } from '../../db/schema.ts'
import { findCut } from '../../ledger/store/cut.ts'
import { TILE_WIDTH } from '../../ledger/format/tiles.ts'

type Db = Database<CoreTables>

/** Rows that one statement removes at most: servers write in between. */
const STEP = 2_000

/**
 * Removes what lies below the cut of a ledger: entries, checkpoints, and inner nodes of nothing else.
 * Each step stands for itself, so that it can be interrupted anywhere and go on later. Gives how many
 * entries it removed.
 */
export async function removePruned(
  db: Db,
  orgId: string,
  onProgress: (done: number) => void = () => undefined,
): Promise<number> {
  const { size = 0 } = (await findCut(db, orgId)) ?? {}
  let removed = 0
  const entries = { table: 'ledger_entry', column: 'seq', below: size } as const
  for await (const count of steps(db, orgId, entries)) onProgress((removed += count))
  const checkpoints = { table: 'ledger_checkpoint', column: 'size', below: size } as const
  for await (const _ of steps(db, orgId, checkpoints));
  for (let level = 1; TILE_WIDTH ** level <= size; level++) {
    const below = Math.floor(size / TILE_WIDTH ** level)
    for await (const _ of steps(db, orgId, { table: 'ledger_node', column: 'idx', below, level }));
  }
  return removed
}

interface Range {
  readonly table: 'ledger_entry' | 'ledger_checkpoint' | 'ledger_node'
  readonly column: 'seq' | 'size' | 'idx'
  readonly below: number
  readonly level?: number
}

/** Deletes the rows below some key, the lowest first; tells how many went with each step. */
async function* steps(
  db: Db,
  orgId: string,
  { table, column, below, level }: Range,
): AsyncGenerator<number> {
  const key = sql.ref(column)
  const mine =
    level === undefined ? sql`org_id = ${orgId}` : sql`org_id = ${orgId} and level = ${level}`
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ${mine} and ${key} in (
        select ${key} from ${sql.table(table)} where ${mine} and ${key} < ${below}
        order by ${key} limit ${STEP})`.execute(db)
    if (numAffectedRows > 0n) yield Number(numAffectedRows)
    if (numAffectedRows < STEP) return
    // SQLite answers without giving the event loop a turn.
    await setImmediate()
  }
}
