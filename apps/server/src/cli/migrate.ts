import type { Command } from 'commander'
import { subcommand } from './command.ts'
import { ConfigError } from '../settings/config.ts'
import { NEEDS_DIRECT } from '../boot/database.ts'
import type { CommandRun } from './session.ts'

export function migrateCommand(program: Command, session: CommandRun): void {
  subcommand(
    program,
    'migrate',
    'Run pending migrations, as every start of the server does',
  ).action(() =>
    session.product(({ remit: { migrated }, mayMigrate }) => {
      if (!mayMigrate) throw new ConfigError(NEEDS_DIRECT)
      const lines = migrated.length > 0 ? migrated : ['The database schema is up to date.']
      session.print({ migrated }, `${lines.join('\n')}\n`)
      return Promise.resolve()
    }),
  )
}
