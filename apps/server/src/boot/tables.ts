import { migrationSetsOf, pendingMigrations, waitForMigrations } from '@remit/core/db/open'
import type { MigrationSet, WaitOptions } from '@remit/core/db/open'
import type { Module } from '@remit/core/module'
import { coreModule } from '@remit/core/server'
import type { Config } from '../settings/config.ts'
import type { Storage } from './database.ts'

/** Migrations are pending, and `REMIT_MIGRATE` forbids this process to run them. */
export class MigrationsPending extends Error {
  constructor(pending: readonly string[]) {
    super(`Migrations are pending: ${pending.join(', ')}; \`remit migrate\` runs them`)
    this.name = 'MigrationsPending'
  }
}

/** The migrations of the core and of these modules. */
export const migrationsOf = (modules: readonly Module[]): MigrationSet[] =>
  migrationSetsOf([coreModule, ...modules])

/**
 * Returns what `REMIT_MIGRATE` does at a start. `check` waits with `wait`; without it, for a
 * command, it throws `MigrationsPending`.
 */
export const prepareTables =
  (mode: Config['REMIT_MIGRATE'], storage: Storage, wait?: WaitOptions): Storage['migrate'] =>
  async (sets) => {
    if (mode === 'auto') return storage.migrate(sets)
    if (mode === 'off') return []
    if (wait) await waitForMigrations(storage.db, sets, wait)
    else {
      const pending = await pendingMigrations(storage.db, sets)
      if (pending.length > 0) throw new MigrationsPending(pending)
    }
    return []
  }
