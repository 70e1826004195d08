import { parseJson } from '@remit/contract/json'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { copySqlite, openDatabase, replaceSqlite } from '@remit/core/db/open'
import type { Database } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import type { Command } from 'commander'
import { z } from 'zod'
import { isPostgres } from '../settings/environment.ts'
import { fileFault } from '../settings/read-file.ts'
import { COPY, MANIFEST, ofCopy } from './backup.ts'
import { subcommand } from './command.ts'
import { CliError } from './errors.ts'
import type { CommandRun } from './session.ts'
import { userPath } from './user-path.ts'

const Ledger = z.object({
  org_id: z.string(),
  size: z.int(),
  hash: z.string(),
  note: z.string(),
})
const Manifest = z.object({
  created_at: z.string(),
  database: z.literal(COPY),
  ledgers: z.array(Ledger),
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
