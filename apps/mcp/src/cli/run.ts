import type { Readable, Writable } from 'node:stream'
import { governedWith } from '../decide/govern.ts'
import { startChild } from '../stdio/child.ts'
import { relay } from '../stdio/relay.ts'
import { readArguments, USAGE, UsageError } from './options.ts'
import type { Arguments } from './options.ts'

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
}

const EXIT = { done: 0, failed: 1, usage: 2 } as const

/** Runs one command line and returns the exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    const options = readArguments(argv)
    if (options === null) {
      io.stdout.write(USAGE)
      return EXIT.done
    }
    await start(options, io)
    return EXIT.done
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    io.stderr.write(`remit-mcp: ${message}\n`)
    return error instanceof UsageError ? EXIT.usage : EXIT.failed
  }
}

async function start(options: Arguments, { env, stdin, stdout, stderr }: Io): Promise<void> {
  const key = env['REMIT_API_KEY']
  if (key === undefined || key === '')
    throw new UsageError(
      'REMIT_API_KEY is not set; it needs an ingest key or the credential of the agent',
    )
  const agentId = agentOf(key, options.agent)
  const { name, trust, deny, unknown, results, holdMs } = options
  const governed = governedWith({
    url: env['REMIT_URL'] ?? 'http://localhost:8080',
    key,
    agentId,
    upstream: name,
    trust,
    settings: { deny, unknown, results, holdMs },
    mappings: {},
    warn: (message) => void stderr.write(`remit-mcp: ${message}\n`),
  })
  const given = options.env.map((variable) => {
    const value = env[variable]
    if (value === undefined) throw new UsageError(`--env: the variable ${variable} is not set`)
    return [variable, value] as const
  })
  const { command, args } = options
  const child = startChild({ command, args, env: Object.fromEntries(given) }, env)
  await relay({ governed, child, stdin, stdout })
}

/** A credential names its agent; an ingest key needs one. */
function agentOf(key: string, agent: string | undefined): string | undefined {
  if (key.startsWith('rmk_') && agent === undefined)
    throw new UsageError('--agent: is needed with an ingest key, which acts for any agent')
  return agent
}
