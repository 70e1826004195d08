import { createClient, RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import type { Command } from 'commander'
import { CliError, EXIT } from './errors.ts'
import type { CommandRun } from './session.ts'

const DEFAULT_URL = 'http://localhost:8080'

/** The option of a command that calls a running server, as a key of it may. */
export interface RemoteOptions {
  readonly url?: string
}

export const remoteOption = (command: Command): Command =>
  command.option('--url <url>', `The server; default REMIT_URL, or ${DEFAULT_URL}`)

/** Runs work on a server with the key in `REMIT_KEY`. Its refusals become errors of the command. */
export async function remotely<T>(
  { io: { env } }: CommandRun,
  { url: given }: RemoteOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const url = given ?? env['REMIT_URL'] ?? DEFAULT_URL
  const key = env['REMIT_KEY']
  if (key === undefined || key === '') throw new CliError('REMIT_KEY is not set; it needs a key')
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw new CliError(`${url} is not an http or https URL`)
  try {
    return await work(createClient({ baseUrl: url, key }))
  } catch (error) {
    throw error instanceof RemitError ? refusal(url, error) : error
  }
}

function refusal(url: string, { code, status, problem, message }: RemitError): CliError {
  const reason = problem?.detail ?? message
  if (status === 0)
    return new CliError(`No server answers at ${url} (${code}); set --url or REMIT_URL`)
  if (status >= 500) return new CliError(`The server at ${url} cannot answer: ${reason}`)
  return new CliError(`The server at ${url} refuses: ${reason}`, EXIT.failed)
}
