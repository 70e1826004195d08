import { Readable, Writable } from 'node:stream'
import { run } from '../../src/cli/program.ts'

export interface CliResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CliOptions {
  /** Standard error is a terminal. */
  readonly isTerminal?: boolean
  readonly stdin?: string
  readonly signal?: AbortSignal
  /** Told of everything that is written, as it comes. */
  readonly onText?: (text: string) => void
}

type Env = Readonly<Record<string, string | undefined>>

/** Runs one command line in this process, as `remit` would. */
export async function cli(
  args: readonly string[],
  env: Env,
  options: CliOptions = {},
): Promise<CliResult> {
  const { isTerminal = false, stdin = '', signal = new AbortController().signal, onText } = options
  let stdout = ''
  let stderr = ''
  const code = await run(args, {
    env,
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: writable((text) => {
      stdout += text
      onText?.(text)
    }),
    stderr: Object.assign(
      writable((text) => {
        stderr += text
        onText?.(text)
      }),
      { isTTY: isTerminal },
    ),
    endSignal: () => signal,
  })
  return { code, stdout, stderr: isTerminal ? stderr : stderr.replaceAll(PROGRESS, '') }
}

/** The lines of work that takes ten seconds, which on a busy machine any work can. */
const PROGRESS = /^(?:read|verified) [\d,]+ entries\n/gm

/** The result of a command that must succeed, read from `--json`. */
export async function cliJson<T>(args: readonly string[], env: Env): Promise<T> {
  const { code, stdout, stderr } = await cli([...args, '--json'], env)
  if (code !== 0) throw new Error(`remit ${args.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout) as T
}

export interface CreatedOrganization {
  readonly organization: {
    readonly id: string
    readonly name: string
    readonly plan: string
    readonly created_at: string
  }
  readonly key: { readonly id: string; readonly role: string; readonly secret: string }
}

export const createOrg = (
  env: Env,
  name = 'acme',
  ...more: string[]
): Promise<CreatedOrganization> => cliJson(['org', 'create', name, ...more], env)

function writable(write: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      write(chunk.toString())
      done()
    },
  })
}
