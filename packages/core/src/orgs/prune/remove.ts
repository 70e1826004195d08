import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../db/open.ts'
import type { CoreTables } from '../../db/schema.ts'
import { findCut } from '../../ledger/store/cut.ts'
import { TILE_WIDTH } from '../../ledger/format/tiles.ts'

type Db = Database<CoreTables>

/** Maximum rows per statement: servers write in between. */
const STEP = 2_000

/**
 * Removes the rows below the cut of a ledger: entries, checkpoints, and inner nodes. Each step is
 * independent, so it can be interrupted and continued. Returns the number of removed entries.
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

/** Deletes the rows below a key, lowest first; yields the number of each step. */
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
    // SQLite returns without yielding to the event loop.
    await setImmediate()
  }
}
