import { setTimeout } from 'node:timers/promises'
import { isUnavailable } from './failure.ts'
import { pendingMigrations } from './migrate.ts'
import type { MigrationSet } from './migration-set.ts'
import type { AnyDatabase } from './portable.ts'
import { refuseNewerTables } from './schema-release.ts'

export interface WaitOptions {
  /** Ends the wait with its reason. */
  readonly signal: AbortSignal
  /** Called with the reason of the wait, again when it changes. */
  readonly onWait: (reason: string) => void | Promise<void>
  /** Milliseconds between two looks at the database. */
  readonly everyMs?: number
}

const EVERY_MS = 1_000

/**
 * Resolves when no migration is pending; changes nothing. A database that is unavailable is waited
 * for. Throws `TablesTooNew` like `migrate`.
 */
export async function waitForMigrations(
  db: AnyDatabase,
  sets: readonly MigrationSet[],
  { signal, onWait, everyMs = EVERY_MS }: WaitOptions,
): Promise<void> {
  let told: string | null = null
  for (;;) {
    const reason = await reasonToWait(db, sets)
    if (reason === null) return
    if (reason !== told) await onWait(reason)
    told = reason
    await setTimeout(everyMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

async function reasonToWait(
  db: AnyDatabase,
  sets: readonly MigrationSet[],
): Promise<string | null> {
  try {
    await refuseNewerTables(db)
    const pending = await pendingMigrations(db, sets)
    return pending.length === 0 ? null : `pending migrations: ${pending.join(', ')}`
  } catch (error) {
    if (isUnavailable(error)) return 'the database is unavailable'
    throw error
  }
}
