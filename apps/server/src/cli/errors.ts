import { CheckpointError, Failure, isUnavailable, NoteError, SettingError } from '@remit/core'
import { CommanderError } from 'commander'
import { ConfigError } from '../settings/config.ts'
import { ListenError } from '../boot/listen.ts'

/** How a command ends; docs/cli.md explains each. 78 is EX_CONFIG of sysexits.h. */
export const EXIT = { ok: 0, failed: 1, couldNotRun: 2, notAnchored: 3, badConfig: 78 } as const

/** An end that is told to the operator in one line. */
export class CliError extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode: number = EXIT.couldNotRun) {
    super(message)
    this.name = 'CliError'
    this.exitCode = exitCode
  }
}

/** What to say about an error and how to end; null where everything was said already. */
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
  if (error instanceof ListenError) return { message: error.message, exitCode: EXIT.couldNotRun }
  return { message: foreign(error), exitCode: EXIT.couldNotRun }
}

/**
 * For commands that end with 1 where a ledger is not as it was signed: what they refuse is no verdict,
 * and must not look like one to a scheduler.
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
  // A group without its command: its help has been shown.
  if (code === 'commander.help') return { message: null, exitCode: EXIT.couldNotRun }
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ')
  return { message: text, exitCode: EXIT.couldNotRun }
}

/** Errors of the database and the system in a sentence of ours. */
function foreign(error: unknown): string {
  const reason = reasonOf(error)
  if (/no such table|relation "\w+" does not exist/.test(reason)) {
    return 'The database has no tables of Remit; `remit migrate` creates them'
  }
  return isUnavailable(error) ? `The database cannot be used: ${reason}` : reason
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Node tries every address of a host and says nothing itself about all of them failing.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  return (first === undefined ? error.message : reasonOf(first)).replaceAll('\n', ' ')
}
