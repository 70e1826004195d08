import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { inPart } from './parts.ts'
import type { Part } from './parts.ts'
import type { AnyDatabase } from './portable.ts'

/** Maximum rows per statement: servers write in between. */
const STEP = 500

interface Rows {
  readonly table: string
  /** The columns of the primary key. */
  readonly key: readonly string[]
  readonly where: RawBuilder<unknown>
}

/**
 * Deletes the matching rows of a part in small steps, until none is left or `signal` aborts. Returns
 * their number.
 */
export async function deleteInBatches(
  db: AnyDatabase,
  part: Part,
  signal: AbortSignal,
  { table, key, where }: Rows,
): Promise<number> {
  const columns = sql.join(key.map((name) => sql.ref(name)))
  let count = 0
  while (!signal.aborted) {
    const { numAffectedRows = 0n } = await sql`delete from ${sql.table(table)}
      where ${inPart(part)} and (${columns}) in (
        select ${columns} from ${sql.table(table)} where ${inPart(part)} and ${where} limit ${sql.lit(STEP)})`.execute(
      db,
    )
    count += Number(numAffectedRows)
    if (numAffectedRows < STEP) break
    // SQLite returns without yielding to the event loop.
    await setImmediate()
  }
  return count
}
