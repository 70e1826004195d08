import { setTimeout } from 'node:timers/promises'
import { Migrator } from 'kysely/migration'
import { distribute } from './distribute.ts'
import { isDistributed } from './distributed.ts'
import { migrationTables } from './migration-set.ts'
import type { MigrationSet } from './migration-set.ts'
import { on } from './portable.ts'
import { isUnavailable } from './failure.ts'
import type { AnyDatabase } from './portable.ts'
import { recordRelease, refuseNewerTables } from './schema-release.ts'

const migratorFor = (db: AnyDatabase, set: MigrationSet) => {
  const [migrationTableName, migrationLockTableName] = migrationTables(set)
  return new Migrator({
    db: on<never>(db),
    provider: { getMigrations: () => Promise.resolve({ ...set.migrations }) },
    migrationTableName,
    migrationLockTableName,
  })
}

/**
 * Runs the pending migrations of every set; returns their names. New tables of a distributed database
 * are distributed too. Throws `TablesTooNew` for tables
 * that are newer than those of the next release.
 */
export async function migrate(db: AnyDatabase, sets: readonly MigrationSet[]): Promise<string[]> {
  await refuseNewerTables(db)
  const ran: string[] = []
  for (const set of sets) {
    // The check needs no lock: a start next to a busy server must not wait for the write lock.
    if ((await pendingMigrations(db, [set])).length === 0) continue
    const { error, results = [] } = await migratorFor(db, set).migrateToLatest()
    if (error !== undefined) throw new Error(`migrating ${set.name} failed`, { cause: error })
    ran.push(...results.map((result) => `${set.name}/${result.migrationName}`))
  }
  if (ran.length > 0) await recordRelease(db)
  if (ran.length > 0 && (await isDistributed(db))) await distribute(db, sets)
  return ran
}

/** Returns the names of pending migrations, for `/ready`. */
export async function pendingMigrations(
  db: AnyDatabase,
  sets: readonly MigrationSet[],
): Promise<string[]> {
  const pending: string[] = []
  for (const set of sets) {
    const all = await migratorFor(db, set).getMigrations()
    pending.push(
      ...all.filter((m) => m.executedAt === undefined).map((m) => `${set.name}/${m.name}`),
    )
  }
  return pending
}

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
