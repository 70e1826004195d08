import { join } from 'node:path'
import { isoTime, makeFolder } from '@remit/core/base'
import { checkSqlite, copySqlite, openDatabase } from '@remit/core/db/open'
import type { Database } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { Ledger } from '@remit/core/ledger/records'
import { listOrganizations } from '@remit/core/orgs'
import type { Command } from 'commander'
import { isPostgres } from '../settings/environment.ts'
import { VERSION } from '../settings/version.ts'
import { subcommand } from './command.ts'
import { CliError } from './errors.ts'
import { fileFault } from '../settings/read-file.ts'
import { admitFile, REPLACE, writeWhole } from './files.ts'
import type { CommandRun } from './session.ts'
import { userPath } from './user-path.ts'

/** A ledger of a backup, for a comparison after a restore. */
export interface BackedUpLedger {
  readonly org_id: string
  readonly size: number
  readonly hash: string
  readonly note: string
}

export function backupCommand(program: Command, session: CommandRun): void {
  subcommand(
    program,
    'backup <folder>',
    'Copy a SQLite database while it is in use, and write the checkpoints of its ledgers; for PostgreSQL, only these',
  )
    .option(...REPLACE)
    .action((folder: string, { replace = false }: { replace?: boolean }) =>
      session.database(async (db) => {
        const isCopied = !isPostgres(session.config.REMIT_DATABASE_URL)
        prepare(folder, isCopied ? [COPY, MANIFEST] : [MANIFEST], replace)
        const copy = join(userPath(folder), COPY)
        if (isCopied) await copyInto(db, copy, replace)
        const ledgers = isCopied ? await ofCopy(copy) : await ledgersOf(db)
        const manifest = {
          version: VERSION,
          created_at: isoTime(Date.now()),
          database: isCopied ? COPY : null,
          ledgers,
        }
        await writeWhole([`${JSON.stringify(manifest, null, 2)}\n`], join(folder, MANIFEST))
        const entries = ledgers.reduce((sum, { size }) => sum + size, 0)
        session.print(
          { folder, ...manifest },
          `${isCopied ? `${copy}\n` : ''}${ledgers.length} ledgers with ${entries} entries\n${isCopied ? '' : POSTGRES}${KEYS}`,
        )
      }),
    )
}

export const COPY = 'remit.db'
export const MANIFEST = 'manifest.json'
const POSTGRES =
  'PostgreSQL is not copied: back it up with its own tools (docs/backup.md), and keep manifest.json with that backup\n'
const KEYS =
  'Not included: the ledger key, the secrets key, the pepper and REMIT_CHECKPOINT_DIR. Keep them elsewhere\n'

/** Creates the folder. Throws `CliError` if a file exists, before another one is written. */
function prepare(folder: string, names: readonly string[], isReplaced: boolean): void {
  try {
    makeFolder(userPath(folder), 0o700)
  } catch (error) {
    throw new CliError(`${folder} cannot be created: ${fileFault(error)}`)
  }
  for (const name of names) admitFile(join(folder, name), isReplaced)
}

async function copyInto(
  db: Database<CoreTables>,
  path: string,
  isReplaced: boolean,
): Promise<void> {
  try {
    await copySqlite(db, path, isReplaced)
  } catch (error) {
    throw new CliError(`The backup failed: ${fileFault(error)}`)
  }
}

/** Checks a copy and returns its ledgers: the database may have grown since. */
export async function ofCopy(path: string): Promise<BackedUpLedger[]> {
  const db = openDatabase<CoreTables>(`sqlite:${path}`, { readonly: true })
  try {
    await checkSqlite(db)
    return await ledgersOf(db)
  } finally {
    await db.destroy()
  }
}

async function ledgersOf(db: Database<CoreTables>): Promise<BackedUpLedger[]> {
  const ledger = new Ledger(db)
  const found: BackedUpLedger[] = []
  for (const { id } of await listOrganizations(db)) {
    const { size, hash, note } = await ledger.head(id)
    found.push({ org_id: id, size, hash, note })
  }
  return found
}
