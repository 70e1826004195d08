import { parseArgs } from 'node:util'

export const USAGE = `usage: remit-mcp [options] -- COMMAND [ARGUMENT ...]
       remit-mcp serve --config FILE

Decides and records every call of an MCP client with Remit before a server receives it.

It stands in front of one server on stdio: write it into the configuration of the client in the place of the
server's command.

  --agent ID        the agent of the calls; needed with an ingest key
  --name NAME       name of the server in Remit; the last part of COMMAND unless given
  --trust TRUST     first-use (default): admit the tools of a server that Remit does not know;
                    pinned: an administrator admits each tool
  --deny FORM       result (default): a denied tool call is a result with isError; error: a JSON-RPC error
  --unknown WHAT    refuse (default) or forward requests with unknown methods
  --results WHAT    note (default): check results with the guard, and note findings for later decisions;
                    withhold: withhold results that the guard blocks as well; off
  --hold SECONDS    time that a call waits for an approval, where the client can do nothing else; 50 unless given
  --map FILE        mappings of tools, such as {"pay": {"amount": "/amount_usd"}}; without an amount, limits in
                    US dollars count nothing
  --drop-meta NAME  a member of _meta that differs between two attempts of a call, and that the server does not
                    get; repeatable
  --env NAME        a variable that the server gets, in addition to PATH, HOME and LANG; repeatable

serve listens on HTTP in front of the servers that FILE names, such as gateway.json.

environment: REMIT_URL (http://localhost:8080 unless given), REMIT_KEY (an ingest key, or the agent's
credential)
`

/** A wrong command line. */
export class UsageError extends Error {}

export interface Arguments {
  readonly agent: string | undefined
  readonly name: string
  readonly trust: 'pinned' | 'first-use'
  readonly deny: 'result' | 'error'
  readonly unknown: 'refuse' | 'forward'
  readonly results: 'off' | 'note' | 'withhold'
  readonly holdMs: number
  readonly dropMeta: readonly string[]
  /** The file with the mappings of tools. */
  readonly map: string | undefined
  readonly env: readonly string[]
  readonly command: string
  readonly args: readonly string[]
}

export interface ServeArguments {
  readonly config: string
}

/** Parses the command line after `serve`; null for `--help`. Throws `UsageError`. */
export function readServeArguments(argv: readonly string[]): ServeArguments | null {
  const { values, positionals } = parsed(() =>
    parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        config: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }),
  )
  if (values.help) return null
  if (positionals.length > 0) throw new UsageError(`unknown argument ${positionals[0]}`)
  if (values.config === undefined) throw new UsageError('--config: must be a file; see --help')
  return { config: values.config }
}

/** Parses a command line; null for `--help`. Throws `UsageError`. */
export function readArguments(argv: readonly string[]): Arguments | null {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const { values, positionals } = parse(own)
  if (values.help) return null
  if (positionals.length > 0)
    throw new UsageError(`unknown argument ${positionals[0]}; write -- before the command`)
  const [command, ...args] = end === -1 ? [] : argv.slice(end + 1)
  if (command === undefined)
    throw new UsageError('expected `remit-mcp [options] -- COMMAND`; see --help')
  const hold = Number(values.hold ?? 50)
  if (!(hold >= 0 && hold <= 600)) throw new UsageError('--hold: must be 0 to 600 seconds')
  return {
    agent: values.agent,
    name: values.name ?? nameOf(command, args),
    trust: oneOf('--trust', values.trust ?? 'first-use', ['pinned', 'first-use']),
    deny: oneOf('--deny', values.deny ?? 'result', ['result', 'error']),
    unknown: oneOf('--unknown', values.unknown ?? 'refuse', ['refuse', 'forward']),
    results: oneOf('--results', values.results ?? 'note', ['off', 'note', 'withhold']),
    holdMs: hold * 1000,
    dropMeta: values['drop-meta'] ?? [],
    map: values.map,
    env: values.env ?? [],
    command,
    args,
  }
}

const parse = (argv: readonly string[]) =>
  parsed(() =>
    parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        agent: { type: 'string' },
        name: { type: 'string' },
        trust: { type: 'string' },
        deny: { type: 'string' },
        unknown: { type: 'string' },
        results: { type: 'string' },
        hold: { type: 'string' },
        map: { type: 'string' },
        'drop-meta': { type: 'string', multiple: true },
        env: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }),
  )

function parsed<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function oneOf<const T extends string>(option: string, value: string, accepted: readonly T[]): T {
  const found = accepted.find((one) => one === value)
  if (found === undefined) throw new UsageError(`${option}: must be ${accepted.join(' or ')}`)
  return found
}

/** `npx -y @acme/server-files@1.2 /data` is `@acme/server-files`, `/usr/bin/files --all` is `files`. */
function nameOf(command: string, args: readonly string[]): string {
  const program = command.split(/[\\/]/).at(-1) ?? command
  const isLauncher = /^(npx|bunx|uvx|pnpx|pipx|node|python3?|deno|bun)(\.\w+)?$/.test(program)
  const first = isLauncher ? args.find((arg) => !arg.startsWith('-') && arg !== 'run') : undefined
  if (first === undefined) return program
  if (/^[./]/.test(first)) return first.split('/').slice(-2).join('/')
  return first.replace(/(?<!^)@[^/@]*$/, '')
}
