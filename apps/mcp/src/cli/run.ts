import type { Readable, Writable } from 'node:stream'
import { spellOut } from '@remit/contract/fit'
import { ConfigError } from '../config/faults.ts'
import { checkKey } from '../credentials/rights.ts'
import { checkedOmitKey, governedWith } from '../decide/governed.ts'
import type { GovernOptions } from '../decide/governed.ts'
import { startChild } from '../stdio/child.ts'
import { relay } from './relay.ts'
import { readArguments, readServeArguments, USAGE, UsageError } from './options.ts'
import type { Arguments, ServeArguments } from './options.ts'
import { createClient } from '@remit/sdk/node'

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  /** Resolves when the process is asked to end. */
  readonly stopped: () => Promise<void>
}

const EXIT = { done: 0, failed: 1, usage: 2 } as const

/** Runs one command line and returns the exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    const options = argv[0] === 'serve' ? readServeArguments(argv.slice(1)) : readArguments(argv)
    if (options === null) {
      io.stdout.write(USAGE)
      return EXIT.done
    }
    await ('config' in options ? serveUntilStopped(options, io) : start(options, io))
    return EXIT.done
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // The faults of a configuration are our own lines.
    const lines = isUsage(error) ? message.split('\n') : [message]
    io.stderr.write(`remit-mcp: ${lines.map((line) => spellOut(line)).join('\n')}\n`)
    return isUsage(error) ? EXIT.usage : EXIT.failed
  }
}

const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || (error instanceof Error && error.name === 'ConfigError')

async function serveUntilStopped({ config }: ServeArguments, io: Io): Promise<void> {
  const { env, stderr, stopped } = io
  const key = keyOf(io)
  // Loaded for this mode alone: a gateway on stdio starts with every session of a client.
  const [{ readGatewayConfig }, { serve }] = await Promise.all([
    import('../config/read.ts'),
    import('../http/serve.ts'),
  ])
  const served = await serve({
    settings: readGatewayConfig(config, env),
    url: urlOf(env),
    key,
    omitKey: omitKeyOf(env),
    env,
    warn: warnTo(stderr),
  })
  stderr.write(`remit-mcp: listens at ${served.url}\n`)
  await stopped()
  await served.stop()
}

const urlOf = (env: Io['env']): string => env['REMIT_URL'] ?? 'http://localhost:8080'

const warnTo =
  (stderr: Writable) =>
  (message: string): void =>
    // Texts of servers must not steer the terminal, or look like lines of the gateway in a log.
    void stderr.write(`remit-mcp: ${spellOut(message)}\n`)

function keyOf({ env, stderr }: Pick<Io, 'env' | 'stderr'>): string {
  const { REMIT_KEY: key, REMIT_API_KEY: old } = env
  if (key !== undefined && key !== '') return key
  if (old !== undefined && old !== '') {
    warnTo(stderr)('REMIT_API_KEY is the old name of REMIT_KEY; its value is used')
    return old
  }
  throw new UsageError(
    'REMIT_KEY is not set; it needs an ingest key or the credential of the agent',
  )
}

function omitKeyOf({ REMIT_OMIT_KEY: secret }: Io['env']): string | undefined {
  try {
    return checkedOmitKey(secret, 'REMIT_OMIT_KEY')
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function start(options: Arguments, { env, stdin, stdout, stderr }: Io): Promise<void> {
  const key = keyOf({ env, stderr })
  const agentId = agentOf(key, options.agent)
  const { name, trust, deny, unknown, results, holdMs, dropMeta } = options
  const url = urlOf(env)
  const client = createClient({ baseUrl: url, key })
  await checkKey({ client, url, hasGuard: results !== 'off', warn: warnTo(stderr) })
  const governed = governedWith({
    url,
    client,
    secret: key,
    omitKey: omitKeyOf(env),
    agentId,
    upstream: name,
    trust,
    settings: { deny, unknown, results, holdMs, dropMeta },
    mappings: await mappingsIn(options.map),
    warn: warnTo(stderr),
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

/** Loaded where it is needed: a gateway on stdio starts with every session of a client. */
async function mappingsIn(file: string | undefined): Promise<GovernOptions['mappings']> {
  if (file === undefined) return {}
  const { mappingsOf } = await import('../config/read.ts')
  try {
    return mappingsOf({ map: {}, map_file: file })
  } catch (error) {
    if (error instanceof ConfigError)
      throw new UsageError(error.message.replace(/^map_file: /, '--map: '))
    throw error
  }
}

/** A credential names its agent; an ingest key needs one. */
function agentOf(key: string, agent: string | undefined): string | undefined {
  if (key.startsWith('rmk_') && agent === undefined)
    throw new UsageError('--agent: is needed with an ingest key, which acts for any agent')
  return agent
}
