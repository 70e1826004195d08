import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { Periodic } from '../base/periodic.ts'
import { eachPart, inPart } from './parts.ts'
import type { Part } from './parts.ts'
import type { AnyDatabase } from './portable.ts'

const EVERY_MS = 60 * 60 * 1000

interface CleanupDeps {
  readonly db: AnyDatabase
  readonly log: { error(fields: object, message: string): void }
}

/** Deletes old rows of all organizations at the start and every hour. */
export class Cleanup {
  readonly #runs: Periodic
  readonly #closing = new AbortController()

  /** `rows` names the rows in logs; `remove` deletes those of a part and ends when its signal aborts. */
  constructor(
    { db, log }: CleanupDeps,
    rows: string,
    remove: (part: Part, signal: AbortSignal) => Promise<unknown>,
  ) {
    const onError = (error: unknown, organizations?: readonly string[]) =>
      log.error({ err: error, organizations }, `deleting old ${rows} failed`)
    this.#runs = new Periodic(
      EVERY_MS,
      async () => void (await eachPart(db, (part) => remove(part, this.#closing.signal), onError)),
      onError,
    )
  }

  start(): void {
    this.#runs.start()
    void this.run()
  }

  run(): Promise<void> {
    return this.#runs.run()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#runs.close()
  }
}

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
