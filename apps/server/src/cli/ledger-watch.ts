import { setTimeout } from 'node:timers/promises'
import { NoteError, parseVerifierKey } from '@remit/core/ledger/proofs'
import type { Command } from 'commander'
import { checkLog, LogAlarm } from '../watch/check-log.ts'
import type { Look } from '../watch/check-log.ts'
import { createLogClient, NoAnswer } from '../watch/log-client.ts'
import type { LogClient } from '../watch/log-client.ts'
import { readState, WatchStateError, writeState } from '../watch/state.ts'
import { subcommand } from './command.ts'
import { CliError, EXIT } from './errors.ts'
import { printable } from './printable.ts'
import type { CommandRun } from './session.ts'
import { userPath } from './user-path.ts'

interface WatchOptions {
  readonly key?: string
  readonly state: string
  readonly interval: string
  readonly once?: true
  readonly vkey?: string
}

export function watchCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'watch <url>', 'Monitor a ledger: check that it is append-only')
    .option('--key <key>', 'Key of the organization with the role read; default: REMIT_KEY')
    .requiredOption('--state <file>', 'State file with the pinned key and the last checkpoint')
    .option('--interval <seconds>', 'Seconds between checks', '60')
    .option('--once', 'Check once and exit')
    .option(
      '--vkey <vkey>',
      'Verifier key of the ledger from a trusted source; default: pin the first key seen',
    )
    .action((url: string, options: WatchOptions) => watch(session, url, options))
}

async function watch(session: CommandRun, url: string, options: WatchOptions): Promise<void> {
  const key = options.key ?? session.io.env['REMIT_KEY']
  if (!key) throw new CliError('--key or REMIT_KEY is required')
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw new CliError(`${url} is not an http or https URL`)
  const seconds = Number(options.interval)
  if (!(seconds >= 1 && seconds <= 86_400))
    throw new CliError('--interval must be 1 to 86400 seconds')
  const client = createLogClient(url, key)
  if (options.once) return lookOnce(session, client, options)

  const ended = session.io.endSignal()
  while (!ended.aborted) {
    try {
      await lookOnce(session, client, options)
    } catch (error) {
      if (!(error instanceof NoAnswer) || !error.passing) throw error
      session.io.stderr.write(`remit: ${printable(error.message)}\n`)
    }
    // An abort only ends the pause; the loop checks it.
    await setTimeout(seconds * 1000, undefined, { signal: ended }).catch(() => undefined)
  }
}

async function lookOnce(
  session: CommandRun,
  client: LogClient,
  options: WatchOptions,
): Promise<void> {
  try {
    const last = readState(userPath(options.state))
    if (options.vkey !== undefined) parseVerifierKey(options.vkey)
    const look = await checkLog(client, last, options.vkey, new Date().toISOString())
    writeState(userPath(options.state), look.state)
    report(session, look)
  } catch (error) {
    if (error instanceof LogAlarm) {
      throw new CliError(`ALARM, ${error.kind}: ${error.message}`, EXIT.failed)
    }
    if (error instanceof WatchStateError) throw new CliError(error.message)
    if (error instanceof NoteError) throw new CliError(`--vkey: ${error.message}`)
    throw error
  }
}

function report(session: CommandRun, { state, pinned, grown }: Look): void {
  const { vkey, size, root, checked_at } = state
  const { name: origin } = parseVerifierKey(vkey)
  if (pinned) {
    session.io.stderr.write(
      `remit: pinned the key that the log returned; compare it with a trusted copy: ${vkey}\n`,
    )
  }
  const growth =
    grown === null ? 'first check' : grown === 0 ? 'unchanged' : `${grown} new entries, append-only`
  session.print(
    { status: 'ok', origin, size, root, grown, pinned, vkey, checked_at },
    `${checked_at} ok: ${size} entries (${growth})\n`,
  )
}
