import { Failure } from '@remit/core/base'
import { DatabaseInUse, isDamage, NotDistributable, TablesTooNew } from '@remit/core/db/open'
import { isUnavailable } from '@remit/core/db'
import { CheckpointError, NoteError } from '@remit/core/ledger/proofs'
import { SettingError } from '@remit/core/module'
import { CommanderError } from 'commander'
import { ConfigError } from '../settings/environment.ts'
import { fileFault, isSystemError } from '../settings/read-file.ts'
import { ListenError } from '../boot/listen.ts'
import { MigrationsPending } from '../boot/tables.ts'

/** Exit codes; docs/cli.md explains each. 78 is EX_CONFIG of sysexits.h. */
export const EXIT = {
  ok: 0,
  failed: 1,
  couldNotRun: 2,
  notAnchored: 3,
  changes: 10,
  drift: 11,
  waiting: 12,
  badConfig: 78,
} as const

/** An error with a one-line message for the operator. */
export class CliError extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode: number = EXIT.couldNotRun) {
    super(message)
    this.name = 'CliError'
    this.exitCode = exitCode
  }
}

/** Returns the message and exit code for an error; null if the message was already printed. */
export function judge(error: unknown): {
  readonly message: string | null
  readonly exitCode: number
} {
  if (error instanceof CommanderError) return judgeUsage(error)
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode }
  if (error instanceof ConfigError || error instanceof SettingError)
    return { message: error.message, exitCode: EXIT.badConfig }
  if (error instanceof Failure) {
    return { message: error.message, exitCode: error.status < 500 ? EXIT.failed : EXIT.couldNotRun }
  }
  if (error instanceof NoteError || error instanceof CheckpointError) {
    return { message: error.message, exitCode: EXIT.failed }
  }
  const own = [DatabaseInUse, ListenError, MigrationsPending, NotDistributable, TablesTooNew]
  const isOwn = own.some((kind) => error instanceof kind)
  if (isOwn) return { message: (error as Error).message, exitCode: EXIT.couldNotRun }
  return { message: foreign(error), exitCode: EXIT.couldNotRun }
}

/**
 * For commands that exit with 1 for an invalid ledger: other errors must use a different code, so
 * that a scheduler can distinguish them.
 */
export async function refusingAsCouldNotRun<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { message, exitCode } = judge(error)
    if (message === null || exitCode !== EXIT.failed) throw error
    throw new CliError(message)
  }
}

function judgeUsage({ code, exitCode, message }: CommanderError) {
  if (exitCode === 0) return { message: null, exitCode: EXIT.ok }
  // A command group without a command: its help was shown.
  if (code === 'commander.help') return { message: null, exitCode: EXIT.couldNotRun }
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ')
  return { message: text, exitCode: EXIT.couldNotRun }
}

/** Returns our message for errors of the database and the system. */
function foreign(error: unknown): string {
  const reason = reasonOf(error)
  if (/no such table|relation "\w+" does not exist/.test(reason)) {
    return 'The database has no tables of Remit; `remit migrate` creates them'
  }
  if (isDamage(error))
    return `The database is damaged: ${reason}. If a copy was put in its place, the files of the old database that end in -wal and -shm must be gone too; \`remit restore <folder>\` replaces all of them`
  return isUnavailable(error) ? `The database cannot be used: ${reason}` : reason
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isSystemError(error) && error.path !== undefined)
    return `${error.path} cannot be used: ${fileFault(error)}`
  // Node tries every address of a host and has no message of its own if all fail.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  return (first === undefined ? error.message : reasonOf(first)).replaceAll('\n', ' ')
}
