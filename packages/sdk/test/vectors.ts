import { readFileSync } from 'node:fs'
import { createClient } from '@remit/contract/client'
import { createGate } from '../src/index.ts'
import type { ApprovalMode, ToolMapping, Verdict } from '../src/index.ts'

export interface Vector {
  readonly name: string
  readonly gate: {
    readonly agentId?: string
    readonly runId: string
    readonly approval: ApprovalMode
    readonly retries: number
    readonly map?: Readonly<Record<string, ToolMapping>>
    readonly omitKey?: string
  }
  readonly call: {
    readonly tool: string
    readonly input: unknown
    readonly callId: string
    readonly traceparent?: string
  }
  readonly exchanges: readonly Exchange[]
  readonly verdict: Readonly<Record<string, unknown>>
}

export interface Exchange {
  readonly request: SentRequest
  /** `null` breaks the connection. */
  readonly response: VectorResponse | null
}

export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface VectorResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Instead of a body in JSON. */
  readonly text?: string
}

const KEY = 'rmk_vector'

/** Large values of the file are texts of JSON: `inputJson` and `bodyJson`. */
export const readVectors = (): readonly Vector[] =>
  (
    JSON.parse(readFileSync(new URL('../vectors.json', import.meta.url), 'utf8'), (_, value) =>
      unfolded(value),
    ) as { vectors: Vector[] }
  ).vectors

function unfolded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const name of ['input', 'body']) {
    const { [`${name}Json`]: text, ...others } = value as Record<string, unknown>
    if (typeof text === 'string') return { ...others, [name]: JSON.parse(text) as unknown }
  }
  return value
}

const COMPARED = ['authorization', 'content-type', 'idempotency-key', 'traceparent']

/** Plays a vector: the requests that the gate sent, and its verdict. */
export async function play({
  gate: options,
  call,
  exchanges,
}: Pick<Vector, 'gate' | 'call'> & {
  readonly exchanges: readonly Pick<Exchange, 'response'>[]
}): Promise<{ sent: SentRequest[]; verdict: Verdict }> {
  const sent: SentRequest[] = []
  const ids = new Map<string, string>()
  const fetch = async (request: Request): Promise<Response> => {
    const exchange = exchanges[sent.length]
    const text = await request.text()
    const id = request.headers.get('x-request-id')
    const key = request.headers.get('idempotency-key') ?? ''
    const isSame = id !== null && id === (ids.get(key) ?? id)
    if (id !== null) ids.set(key, id)
    const { pathname, search } = new URL(request.url)
    sent.push({
      method: request.method,
      path: pathname + search,
      headers: Object.fromEntries([
        ...COMPARED.flatMap((name) => {
          const value = request.headers.get(name)
          return value === null ? [] : [[name, value]]
        }),
        // Random, and the same in all attempts of one question.
        ...(isSame ? [['x-request-id', '$request-id']] : []),
      ]) as Record<string, string>,
      ...(text !== '' && { body: JSON.parse(text) as unknown }),
    })
    if (!exchange?.response) throw new TypeError('the connection broke')
    const { status, headers = {}, body, text: raw } = exchange.response
    const others = Object.entries(headers).filter(([name]) => name !== 'content-type')
    const filled = others.map<[string, string]>(([name, value]) => [
      name,
      value === '$request-id' ? (id ?? '') : value,
    ])
    const type: [string, string] = ['content-type', headers['content-type'] ?? 'application/json']
    return new Response(raw ?? JSON.stringify(body), { status, headers: [type, ...filled] })
  }
  const client = createClient({ baseUrl: 'http://remit.example', key: KEY, fetch })
  const verdict = await createGate({ client, ...options }).check(call)
  return { sent, verdict }
}
