import { distribute, openDatabase, pendingMigrations } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import type { Command } from 'commander'
import { MigrationsPending } from '../boot/tables.ts'
import { ConfigError, isPostgres } from '../settings/environment.ts'
import { subcommand } from './command.ts'
import type { CommandRun } from './session.ts'

/** Moving the rows of one table may take as long as this. */
const ANSWER_MS = 24 * 60 * 60 * 1000

export function distributeCommand(program: Command, session: CommandRun): void {
  subcommand(
    program,
    'distribute',
    'Spread the tables over the nodes of a Citus cluster, while no server runs',
  ).action(() => run(session))
}

async function run(session: CommandRun): Promise<void> {
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
