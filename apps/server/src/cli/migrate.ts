import { waitForMigrations, distribute, openDatabase, pendingMigrations } from '@remit/core/db/open'
import type { Command } from 'commander'
import { subcommand } from './options.ts'
import { ConfigError, isPostgres } from '../settings/environment.ts'
import { NEEDS_DIRECT } from '../boot/database.ts'
import { CliError } from './errors.ts'
import type { CommandRun } from './session.ts'
import type { CoreTables } from '@remit/core/db'
import { MigrationsPending } from '../boot/tables.ts'

export function migrateCommand(program: Command, session: CommandRun): void {
  subcommand(
    program,
    'migrate',
    'Run pending migrations; needs the database and the license, but no key file',
  )
    .option('--wait', 'Wait until no migration is pending; changes nothing')
    .action(({ wait = false }: { wait?: boolean }) => (wait ? awaitOthers(session) : run(session)))
}

const run = (session: CommandRun): Promise<void> =>
  session.storage(async ({ migrate, mayMigrate }, sets) => {
    const migrated = await migrate(sets)
    if (!mayMigrate) throw new ConfigError(NEEDS_DIRECT)
    const lines = migrated.length > 0 ? migrated : ['The database schema is up to date.']
    session.print({ migrated }, `${lines.join('\n')}\n`)
  })

const awaitOthers = (session: CommandRun): Promise<void> =>
  session.database(async (db) => {
    const signal = session.io.endSignal()
    const onWait = (reason: string) => void session.io.stderr.write(`remit: waiting: ${reason}\n`)
    await waitForMigrations(db, await session.migrations(), { signal, onWait }).catch((error) => {
      throw signal.aborted ? new CliError('Migrations are still pending') : error
    })
    session.print({ pending: [] }, 'The database schema is up to date.\n')
  })

/** Moving the rows of one table may take as long as this. */
const ANSWER_MS = 24 * 60 * 60 * 1000

export function distributeCommand(program: Command, session: CommandRun): void {
  subcommand(
    program,
    'distribute',
    'Spread the tables over the nodes of a Citus cluster, while no server runs',
  ).action(() => distributeTables(session))
}

async function distributeTables(session: CommandRun): Promise<void> {
  const { REMIT_DATABASE_URL: url, REMIT_DATABASE_DIRECT_URL: direct = url } = session.config
  if (!isPostgres(direct))
    throw new ConfigError('REMIT_DATABASE_URL must be the coordinator of a Citus cluster')
  const sets = await session.migrations()
  const db = openDatabase<CoreTables>(direct, {
    answerMs: ANSWER_MS,
    applicationName: 'remit-distribute',
  })
  try {
    const pending = await pendingMigrations(db, sets)
    if (pending.length > 0) throw new MigrationsPending(pending)
    const tables = await distribute(db, sets)
    const lines = tables.length > 0 ? tables : ['The tables are distributed already.']
    session.print({ distributed: tables }, `${lines.join('\n')}\n`)
  } finally {
    await db.destroy()
  }
}
