import { waitForMigrations } from '@remit/core/db/open'
import type { Command } from 'commander'
import { subcommand } from './command.ts'
import { ConfigError } from '../settings/environment.ts'
import { NEEDS_DIRECT } from '../boot/database.ts'
import { CliError } from './errors.ts'
import type { CommandRun } from './session.ts'

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
