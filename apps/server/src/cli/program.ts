import { Command } from 'commander'
import { VERSION } from '../settings/version.ts'
import { agentCommands } from './agent.ts'
import { backupCommand, restoreCommand } from './backup.ts'
import { budgetCommands } from './budget.ts'
import { checkCommand } from './check.ts'
import { complianceCommands } from './compliance.ts'
import { discoverCommand } from './discover.ts'
import { distributeCommand, migrateCommand } from './migrate.ts'
import { doctorCommand } from './doctor.ts'
import { judge } from './errors.ts'
import { guardCommand } from './guard.ts'
import { written } from './files.ts'
import type { Io } from './files.ts'
import { keyCommands } from './key.ts'
import { ledgerCommands } from './ledger.ts'
import { licenseCommands } from './license.ts'
import { mcpCommands } from './mcp.ts'
import { orgCommands } from './org.ts'
import { policyCommands } from './policy.ts'
import { printable } from './table.ts'
import { serveCommand } from './serve.ts'
import { spendCommands } from './spend.ts'
import { scoreCommand } from './score.ts'
import { secretsCommands } from './secrets.ts'
import { CommandRun } from './session.ts'
import { refuseEmptyPaths } from './options.ts'

/** Creates every command of `remit`; a test compares `docs/cli.md` with it. */
export function createProgram(session: CommandRun): Command {
  const { stdout, stderr } = session.io
  const program = new Command('remit')
    .description('Authorization API and tamper-evident audit ledger for AI agents')
    .version(VERSION)
    .exitOverride()
    .addHelpText(
      'afterAll',
      `
Settings are environment variables, such as REMIT_DATABASE_URL; \`remit serve --help\` lists them.
Commands that call a server read its address from REMIT_URL and their key from REMIT_KEY.`,
    )
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      // Errors are printed once, by `run`.
      outputError: () => undefined,
    })
    .hook('preAction', (_, command) => refuseEmptyPaths(command))
  serveCommand(program, session)
  migrateCommand(program, session)
  distributeCommand(program, session)
  checkCommand(program, session)
  backupCommand(program, session)
  restoreCommand(program, session)
  orgCommands(program, session)
  keyCommands(program, session)
  licenseCommands(program, session)
  ledgerCommands(program, session)
  secretsCommands(program, session)
  agentCommands(program, session)
  spendCommands(program, session)
  budgetCommands(program, session)
  policyCommands(program, session)
  mcpCommands(program, session)
  complianceCommands(program, session)
  guardCommand(program, session)
  scoreCommand(program, session)
  discoverCommand(program, session)
  doctorCommand(program, session)
  return program
}

/** Runs one command line and returns its exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const session = new CommandRun(io, args.includes('--json'))
  try {
    await createProgram(session).parseAsync(args, { from: 'user' })
    await written(io)
    return session.exitCode
  } catch (error) {
    const { message, exitCode } = judge(error)
    if (message !== null) {
      const text = session.json
        ? JSON.stringify({ error: { message, exit_code: exitCode } })
        : printable(message)
      io.stderr.write(session.json ? `${text}\n` : `remit: ${text}\n`)
      const level = io.env['REMIT_LOG_LEVEL']
      if ((level === 'debug' || level === 'trace') && error instanceof Error)
        io.stderr.write(`${printable(error.stack ?? '')}\n`)
    }
    return exitCode
  }
}
