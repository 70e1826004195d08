import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '@remit/core/db/open'
import { dialectOf } from '@remit/core/db'
import type { CoreTables, Dialect } from '@remit/core/db'
import {
  createDatabase,
  createMigratedDatabase,
  openPatiently,
  scratchFolder,
} from '@remit/testing'
import { sql } from 'kysely'
import { loadModules } from '../../src/boot/modules.ts'

/** A folder and a database of its own: what one installation of the server has. */
export interface Installation {
  readonly folder: string
  /** All a process of it needs; in evaluation, on a free port. */
  readonly env: Readonly<Record<string, string>>
  /** The database itself, for what no command can do. Closed after `work`. */
  database<T>(work: (db: Database<CoreTables>) => Promise<T>): Promise<T>
  remove(): Promise<void>
}

/** Creates an installation. Default: with all tables, as after the first start. */
export async function createInstallation(
  dialect: Dialect = 'sqlite',
  { hasTables = true }: { readonly hasTables?: boolean } = {},
): Promise<Installation> {
  const folder = scratchFolder('server')
  const created = hasTables
    ? await createMigratedDatabase(dialect, await loadModules())
    : await createDatabase(dialect)
  const { url } = created
  return {
    folder,
    env: {
      REMIT_DATABASE_URL: url,
      REMIT_LEDGER_KEY_FILE: join(folder, 'ledger-key.pem'),
      REMIT_EVALUATION: '1',
      REMIT_PORT: '0',
      REMIT_BASE_URL: 'https://remit.test',
    },
    async database(work) {
      const db = openPatiently<CoreTables>(url)
      try {
        return await work(db)
      } finally {
        await db.destroy()
      }
    },
    async remove() {
      await created.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Changes entries as an attacker with the database could, without the triggers of the tables. */
export async function withoutGuards(
  db: Database<CoreTables>,
  work: (db: Database<CoreTables>) => Promise<unknown>,
): Promise<void> {
  const on = dialectOf(db) === 'postgres' ? ' on ledger_entry' : ''
  await sql.raw(`drop trigger ledger_entry_is_final${on}`).execute(db)
  await sql.raw(`drop trigger ledger_entry_stays${on}`).execute(db)
  await work(db)
}
