import { Migrator } from 'kysely/migration'
import type { Migration } from 'kysely/migration'
import { on } from './portable.ts'
import type { AnyDatabase } from './portable.ts'
import { recordRelease, refuseNewerTables } from './schema-release.ts'

export interface MigrationSet {
  /**
   * Name of the module. Each has its own migration table, so a later installation does not affect
   * other modules.
   */
  readonly name: string
  readonly migrations: Readonly<Record<string, Migration>>
}

/** The sets of the modules that have migrations, in the order of the modules. */
export const migrationSetsOf = (
  modules: readonly {
    readonly name: string
    readonly migrations?: MigrationSet['migrations']
  }[],
): MigrationSet[] =>
  modules.flatMap(({ name, migrations }) => (migrations ? [{ name, migrations }] : []))

const migratorFor = (db: AnyDatabase, set: MigrationSet) =>
  new Migrator({
    db: on<never>(db),
    provider: { getMigrations: () => Promise.resolve({ ...set.migrations }) },
    migrationTableName: `migration_${set.name}`,
    migrationLockTableName: `migration_${set.name}_lock`,
  })

/**
 * Runs the pending migrations of every set; returns their names. Throws `TablesTooNew` for tables
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
