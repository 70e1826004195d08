import { parseArgs } from 'node:util'
import { askServer } from './ask-server.ts'
import { eventOf, failure } from './answers.ts'

const USAGE = `usage: remit-sdk hook codex [options]

Answers a hook of Codex: reads its input from standard input, asks Remit, and prints the decision.
Without an answer from Remit in time, the decision is a denial.

  --url URL          the server; REMIT_URL, or http://localhost:8080, unless given
  --agent ID         the agent; needed with an ingest key for an agent other than codex
  --timeout SECONDS  the timeout of the hook in the configuration of Codex, 3 to 120; 55 unless given
  --help

REMIT_KEY has the agent's credential or an ingest key.
`

const MAX_BYTES = 16 * 1024 * 1024
const SECONDS = { min: 3, max: 120, default: 55 } as const
/** The answer of this program comes after that of the server, and before the time-out of the host. */
const MARGIN_MS = 1_000

/** Exit codes that Codex reads: with 2 it blocks the call and shows standard error to the model. */
export const EXIT = { ok: 0, failed: 1, block: 2 } as const

export interface HookIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Runs one hook and returns the exit code. Never throws; `end` aborts when the host ends the hook. */
export async function runHook(
  args: readonly string[],
  io: HookIo,
  end: AbortSignal,
): Promise<number> {
  let event: string | null = null
  try {
    const options = readArguments(args, io.env)
    if (options === null) {
      io.stdout.write(USAGE)
      return EXIT.ok
    }
    const late = AbortSignal.timeout(options.seconds * 1000 - MARGIN_MS)
    const signal = AbortSignal.any([late, end])
    const input = await readInput(io.stdin, signal)
    event = eventOf(input)
    if (event === null) throw new Error('the input is no hook: it has no hook_event_name')
    const answer = await askServer(options, { event, input }, signal)
    if (answer !== null) io.stdout.write(`${answer}\n`)
    return EXIT.ok
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const { output, exitCode } = failure(event, message)
    if (output !== null) io.stdout.write(`${output}\n`)
    io.stderr.write(`remit-sdk: ${message}\n`)
    return exitCode
  }
}

export interface HookOptions {
  readonly url: string
  readonly key: string
  readonly agentId: string | undefined
  readonly seconds: number
}

function readArguments(args: readonly string[], env: HookIo['env']): HookOptions | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      agent: { type: 'string' },
      timeout: { type: 'string', default: String(SECONDS.default) },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const [, host, ...more] = positionals
  if (host !== 'codex' || more.length > 0)
    throw new Error('expected `remit-sdk hook codex`; see --help')
  const seconds = Number(values.timeout)
  if (!Number.isInteger(seconds) || seconds < SECONDS.min || seconds > SECONDS.max)
    throw new Error(`--timeout must be a whole number from ${SECONDS.min} to ${SECONDS.max}`)
  const key = env['REMIT_KEY']
  if (key === undefined || key === '')
    throw new Error('REMIT_KEY is not set; it needs a credential or an ingest key')
  const url = values.url ?? env['REMIT_URL'] ?? 'http://localhost:8080'
  return { url, key, agentId: values.agent, seconds }
}

/** Reads standard input to its end, or until the signal aborts. */
async function readInput(stdin: HookIo['stdin'], signal: AbortSignal): Promise<string> {
  const late = new Promise<never>((_, reject) => {
    const abort = () => reject(new Error('the input of the hook did not end in time'))
    signal.addEventListener('abort', abort, { once: true })
  })
  const read = async () => {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk as Uint8Array)
      length += bytes.length
      if (length > MAX_BYTES) throw new Error(`the input of the hook exceeds ${MAX_BYTES} bytes`)
      chunks.push(bytes)
    }
    return Buffer.concat(chunks).toString('utf8')
  }
  return Promise.race([read(), late])
}
