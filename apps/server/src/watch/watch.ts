import {
  CheckpointError,
  NoteError,
  openCheckpoint,
  parseVerifierKey,
  verifyConsistency,
  hashFromBase64,
} from '@remit/core/ledger/proofs'
import type { Checkpoint } from '@remit/core/ledger/proofs'
import { parseJson } from '@remit/contract/json'
import { z } from 'zod'
import { renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder, readWholeFile } from '@remit/core/base'
import { fileFault } from '../settings/read-file.ts'

/** The log is not append-only: it shrank, has another history, or has another signer. */
export class LogAlarm extends Error {
  readonly kind: 'signature' | 'shrank' | 'forked'
  constructor(kind: LogAlarm['kind'], message: string) {
    super(message)
    this.name = 'LogAlarm'
    this.kind = kind
  }
}

/** A successful check of a log. */
export interface Look {
  readonly state: WatchState
  /** True if the key was pinned on first use. */
  readonly pinned: boolean
  /** Entries since the last check; null on the first. */
  readonly grown: number | null
}

/**
 * Checks a log once: the newest checkpoint must be signed by the pinned key and extend that of the
 * last check, which the log has to prove. `vkey` pins a given key and overrides that of the state.
 * Throws `LogAlarm`, or `NoAnswer` if the check could not be made.
 */
export async function checkLog(
  client: LogClient,
  last: WatchState | null,
  vkey: string | undefined,
  now: string,
): Promise<Look> {
  const answer = await client.checkpoint()
  const pin = vkey ?? last?.vkey
  const state = { vkey: pin ?? answer.vkey, note: answer.note, checked_at: now }
  const { size, root } = open(answer.note, state.vkey)
  if (last) await demandGrowth(client, last, { size, root })
  return {
    state: { ...state, size, root },
    pinned: pin === undefined,
    grown: last && size - last.size,
  }
}

function open(note: string, vkey: string): Checkpoint {
  try {
    const verifier = parseVerifierKey(vkey)
    // The key name is the origin of the log: another log signed with the same key has another name.
    return openCheckpoint(note, verifier, verifier.name)
  } catch (error) {
    if (!(error instanceof NoteError) && !(error instanceof CheckpointError)) throw error
    throw new LogAlarm(
      'signature',
      `the checkpoint is not signed by the pinned key ${vkey}: ${error.message}`,
    )
  }
}

async function demandGrowth(
  client: LogClient,
  last: WatchState,
  { size, root }: Pick<Checkpoint, 'size' | 'root'>,
): Promise<void> {
  if (size < last.size) {
    throw new LogAlarm(
      'shrank',
      `the log shrank to ${size} entries from ${last.size} on ${last.checked_at}`,
    )
  }
  // Equal sizes need no proof, only equal roots.
  const proof = size === last.size ? [] : await client.consistency(last.size, size)
  if (!verifyConsistency({ from: last.size, to: size, fromRoot: last.root, toRoot: root, proof })) {
    throw new LogAlarm(
      'forked',
      `the log of ${size} entries is not an extension of the ${last.size} entries of ${last.checked_at}`,
    )
  }
}

export interface LogClient {
  /** Returns the newest signed note, and the key that the log names. */
  checkpoint(): Promise<{ readonly note: string; readonly vkey: string }>
  /** Returns the consistency proof between two sizes, hashes in hex. */
  consistency(from: number, to: number): Promise<readonly string[]>
}

/** The log gave no usable response. `passing`: a retry may succeed. */
export class NoAnswer extends Error {
  readonly passing: boolean
  constructor(message: string, passing: boolean) {
    super(message)
    this.name = 'NoAnswer'
    this.passing = passing
  }
}

const Checkpoint = z.object({ note: z.string(), vkey: z.string() })
const Consistency = z.object({ proof: z.array(z.string()).max(64) })
const TIMEOUT_MS = 30_000

/** Creates a client; its methods throw `NoAnswer` unless the response is a well-formed success. */
export function createLogClient(baseUrl: string, key: string): LogClient {
  const get = async <T>(path: string, shape: z.ZodType<T>): Promise<T> => {
    const response = await request(new URL(path, `${baseUrl.replace(/\/$/, '')}/`), key)
    const text = await response.text().catch((error: unknown) => {
      throw new NoAnswer(reasonOf(error), true)
    })
    if (!response.ok) throw refusal(response.status, text)
    const { data, success } = shape.safeParse(parseJson(text))
    if (!success) throw new NoAnswer(`the response of ${path} is not a response of a ledger`, true)
    return data
  }
  return {
    checkpoint: () => get('v1/ledger/checkpoint', Checkpoint),
    async consistency(from, to) {
      const { proof } = await get(`v1/ledger/consistency?from=${from}&to=${to}`, Consistency)
      return proof.map((hash) => hashFromBase64(hash) ?? '')
    },
  }
}

async function request(url: URL, key: string): Promise<Response> {
  try {
    return await fetch(url, {
      headers: { accept: 'application/json', authorization: `Bearer ${key}` },
      // No redirects: the key belongs to this log only.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (error) {
    throw new NoAnswer(reasonOf(error), true)
  }
}

/** Returns the cause of `fetch failed`. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  const { code } = (cause ?? {}) as { code?: string }
  return `the log is unavailable: ${code ?? message}`
}

function refusal(status: number, text: string): NoAnswer {
  const { code, detail } = (parseJson(text) ?? {}) as { code?: unknown; detail?: unknown }
  const said = typeof code === 'string' ? ` ${code}: ${String(detail)}` : ''
  return new NoAnswer(
    `the log responded with status ${status}${said}`,
    status >= 500 || status === 429 || status === 408,
  )
}

const State = z.object({
  /** The pinned key; its name is the origin of the log. */
  vkey: z.string(),
  size: z.int().min(1),
  root: z.string().regex(/^[0-9a-f]{64}$/),
  /** The signed checkpoint: evidence against the log, and input for `ledger verify`. */
  note: z.string(),
  /** Time of the last confirmation, RFC 3339. */
  checked_at: z.string(),
})

/** State of a watcher between two checks. */
type WatchState = z.infer<typeof State>

/** An invalid state file. */
export class WatchStateError extends Error {
  override readonly name = 'WatchStateError'
}

/** Reads a state file; null before the first check. Throws `WatchStateError`. */
export function readState(path: string): WatchState | null {
  let text: string
  try {
    text = readWholeFile(path).toString()
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw new WatchStateError(`${path} cannot be read: ${fileFault(error)}`)
  }
  const state = State.safeParse(parseJson(text))
  // A fresh start would hide changes of the log.
  if (!state.success)
    throw new WatchStateError(`${path} is not a state file of \`remit ledger watch\``)
  return state.data
}

/**
 * Replaces the file atomically: a crash leaves the old state or the new one. Throws
 * `WatchStateError`.
 */
export function writeState(path: string, state: WatchState): void {
  const next = `${path}.next`
  try {
    makeFolder(dirname(path))
    writeFileSync(next, `${JSON.stringify(state, null, 2)}\n`, { flush: true })
    renameSync(next, path)
  } catch (error) {
    throw new WatchStateError(`${path} cannot be written: ${fileFault(error)}`)
  }
}
