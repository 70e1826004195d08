import { parseJson } from '@remit/contract/json'
import { hashFromBase64 } from '@remit/core/ledger/proofs'
import { z } from 'zod'

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
