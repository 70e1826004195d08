import { join } from 'node:path'
import { isoTime, makeFolder } from '@remit/core/base'
import { checkSqlite, copySqlite, openDatabase, replaceSqlite } from '@remit/core/db/open'
import type { Database } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { Ledger } from '@remit/core/ledger/records'
import { listOrganizations } from '@remit/core/orgs'
import type { Command } from 'commander'
import { isPostgres } from '../settings/environment.ts'
import { VERSION } from '../settings/version.ts'
import { subcommand, userPath } from './options.ts'
import { CliError } from './errors.ts'
import { fileFault } from '../settings/read-file.ts'
import { admitFile, REPLACE, writeWhole } from './files.ts'
import type { CommandRun } from './session.ts'
import { parseJson } from '@remit/contract/json'
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

/** A ledger of a backup, for a comparison after a restore. */
const BackedUpLedger = z.object({
  org_id: z.string(),
  size: z.int(),
  hash: z.string(),
  note: z.string(),
})
type BackedUpLedger = z.infer<typeof BackedUpLedger>

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

const COPY = 'remit.db'
const MANIFEST = 'manifest.json'
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
async function ofCopy(path: string): Promise<BackedUpLedger[]> {
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

const Manifest = z.object({
  created_at: z.string(),
  database: z.literal(COPY),
  ledgers: z.array(BackedUpLedger),
})

export function restoreCommand(program: Command, session: CommandRun): void {
  subcommand(
    program,
    'restore <folder>',
    'Put the copy of a backup in the place of the SQLite database; all servers must be stopped',
  ).action(async (folder: string) => {
    const url = session.config.REMIT_DATABASE_URL
    if (isPostgres(url) || url === 'sqlite::memory:')
      throw new CliError(
        'Only a SQLite file is restored: use the tools of PostgreSQL (docs/backup.md)',
      )
    const { created_at, ledgers } = readManifest(folder)
    const copy = join(userPath(folder), COPY)
    const database = url.slice('sqlite:'.length)
    const time = new Date().toISOString().replaceAll(':', '-')
    const replaced = await replaceSqlite(database, time, async (restored) => {
      await copyTo(copy, restored)
      if (!isDeepStrictEqual(await ofCopy(restored), ledgers))
        throw new CliError(`${copy} has other ledgers than ${MANIFEST} beside it`)
    })
    const entries = ledgers.reduce((sum, { size }) => sum + size, 0)
    session.print(
      { database, replaced, created_at, ledgers },
      `${database}: ${ledgers.length} ledgers with ${entries} entries, as of ${created_at}\n` +
        (replaced === null
          ? ''
          : `The replaced database is ${replaced}: keep it until the loss is recorded\n`) +
        NEXT,
    )
  })
}

const NEXT =
  'Next, record lost entries with `remit ledger recover`, start the server, and run `remit ledger verify`\n'

function readManifest(folder: string): z.infer<typeof Manifest> {
  const path = join(userPath(folder), MANIFEST)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${fileFault(error)}`)
  }
  const { success, data } = Manifest.safeParse(parseJson(text))
  if (!success)
    throw new CliError(`${path} is not the ${MANIFEST} of a backup of SQLite by \`remit backup\``)
  return data
}

/** By SQLite, which also takes a log beside the copy into account. */
async function copyTo(copy: string, path: string): Promise<void> {
  let db: Database<CoreTables> | undefined
  try {
    db = openDatabase<CoreTables>(`sqlite:${copy}`, { readonly: true })
    await copySqlite(db, path)
  } catch (error) {
    throw new CliError(`${copy} cannot be copied: ${fileFault(error)}`)
  } finally {
    await db?.destroy()
  }
}
