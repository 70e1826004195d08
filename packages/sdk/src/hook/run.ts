import { parseJson } from '@remit/contract/fit'
import { parseArgs } from 'node:util'

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

/** The answer of the server to a hook, as the host reads it; null for silence. Throws the reason of a failure. */
async function askServer(
  { url, key, agentId, seconds }: HookOptions,
  { event, input }: { readonly event: string; readonly input: string },
  signal: AbortSignal,
): Promise<string | null> {
  const target = new URL('/v1/hooks/codex', url)
  target.searchParams.set('timeout', String(seconds))
  // The silence of another server must not pass for an allow.
  target.searchParams.set('allow', 'true')
  if (agentId !== undefined) target.searchParams.set('agent_id', agentId)
  const response = await fetch(target, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: input,
    redirect: 'error',
    signal,
  }).catch((error: unknown) => {
    throw new Error(reasonOf(error, url, signal), { cause: error })
  })
  const text = await response.text()
  if (response.status !== 200)
    throw new Error(`the server at ${url} answers ${response.status}${detailOf(text)}`)
  return checkedAnswer(event, text)
}

function reasonOf(error: unknown, url: string, signal: AbortSignal): string {
  if (signal.aborted) return `the server at ${url} did not answer in time`
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return `no server answers at ${url} (${cause instanceof Error ? cause.message : String(cause)})`
}

/** The reason in a problem document. */
function detailOf(text: string): string {
  const { detail, title } = (parseJson(text) ?? {}) as { detail?: string; title?: string }
  const reason = detail ?? title
  return reason === undefined ? '' : `: ${reason}`
}

/** The event that an input is about; null if it is no hook. */
function eventOf(input: string): string | null {
  const { hook_event_name: event } = (parseJson(input) ?? {}) as { hook_event_name?: unknown }
  return typeof event === 'string' ? event : null
}

interface Failure {
  readonly output: string | null
  readonly exitCode: number
}

/** The answer of a hook that has no decision: what has not run yet does not run. Pure. */
function failure(event: string | null, reason: string): Failure {
  const message = `Not executed: Remit could not decide. ${reason}`
  switch (event) {
    // Of all answers to what is no hook, Codex blocks on the exit code 2 alone.
    case null:
      return { output: null, exitCode: 2 }
    case 'PreToolUse':
      return said({
        hookEventName: event,
        permissionDecision: 'deny',
        permissionDecisionReason: message,
      })
    case 'PermissionRequest':
      return said({ hookEventName: event, decision: { behavior: 'deny', message } })
    default:
      return { output: null, exitCode: 1 }
  }
}

const said = (hookSpecificOutput: object): Failure => ({
  output: JSON.stringify({ hookSpecificOutput }),
  exitCode: 0,
})

interface HookOutput {
  readonly permissionDecision?: unknown
  readonly decision?: { readonly behavior?: unknown } | null
}

/**
 * The answer of the server for the host: null for silence, which leaves the decision to the rules of the
 * host. A call needs an explicit allow for it. Throws for anything but an answer. Pure.
 */
function checkedAnswer(event: string, text: string): string | null {
  const answer = parseJson(text) as { hookSpecificOutput?: HookOutput | null } | null | undefined
  if (answer === undefined) throw new Error('the answer of the server is not JSON')
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Error('the answer of the server is no object')
  const { hookSpecificOutput: output = {}, ...others } = answer
  if (Object.keys(others).length > 0 || typeof output !== 'object' || output === null)
    throw new Error('the answer of the server is unknown to this version')
  const decision = event === 'PreToolUse' ? output.permissionDecision : output.decision?.behavior
  if (decision === 'deny') return JSON.stringify(answer)
  if (event === 'PreToolUse' && decision !== 'allow')
    throw new Error('the answer of the server has no decision')
  return null
}
