import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { createOutbound } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import type { TestClock, TestRemitOptions } from '@remit/testing'
import { vi } from 'vitest'
import { createApi } from './api.ts'
import type { Api } from './api.ts'

/** Far more than a busy machine needs. */
export const PATIENCE = { timeout: 60_000, interval: 20 }

/** An API whose sinks may be on loopback. */
export const createSinkApi = (options: TestRemitOptions = {}): Promise<Api> =>
  createApi({ outbound: loopback, ...options })

export const loopback: Outbound = createOutbound({ allowLoopback: true })

/** A request as it came. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A receiver on loopback that keeps the requests that it accepts. */
export interface SinkReceiver extends AsyncDisposable {
  readonly origin: string
  /** Accepted requests. */
  readonly accepted: readonly Sent[]
  /** Number of requests, refused ones included. */
  readonly requests: number
  /** The status of a request and the body of its response; 200 and none unless set. */
  answer: (sent: Sent) => { readonly status: number; readonly body?: string } | null
}

export async function startSinkReceiver(): Promise<SinkReceiver> {
  const accepted: Sent[] = []
  let requests = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests += 1
      const { method = '', url: path = '', headers } = request
      take({ method, path, headers, body: Buffer.concat(chunks) }, response)
    })
  })
  const take = (sent: Sent, response: ServerResponse) => {
    const answer = receiver.answer(sent)
    if (answer === null) return response.destroy()
    if (answer.status < 300) accepted.push(sent)
    return response.writeHead(answer.status).end(answer.body)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: SinkReceiver = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted,
    get requests() {
      return requests
    },
    answer: () => ({ status: 200 }),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}

export interface Line {
  readonly seq: number
  readonly kind: string
  readonly hash: string
  readonly prev_hash: string
  readonly data: Readonly<Record<string, unknown>> | null
}

/** The records of newline-delimited JSON, compressed or not. */
export const linesOf = ({ body, path }: Pick<Sent, 'body' | 'path'>): Line[] =>
  (path.endsWith('.gz') ? gunzipSync(body) : body)
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

/** The records of accepted requests in the order of arrival; repeats, which are allowed, are left out. */
export const recordsOf = (receiver: SinkReceiver, path?: string): Line[] => {
  const requests = receiver.accepted.filter((sent) => path === undefined || sent.path === path)
  return [...new Map(requests.flatMap(linesOf).map((line) => [line.seq, line])).values()]
}

export const seqsOf = (receiver: SinkReceiver, path?: string): number[] =>
  recordsOf(receiver, path).map(({ seq }) => seq)

export const upTo = (size: number, from = 0): number[] =>
  Array.from({ length: size - from }, (_, i) => from + i)

export const sizeOf = async (api: Api): Promise<number> =>
  (await api.remit.ledger.head(api.org.id)).size

/** Waits until a sink has sent all entries of its ledger; with a clock, retries become due. */
export const caughtUp = (api: Api, id: string, clock?: TestClock) =>
  vi.waitFor(async () => {
    clock?.advance(10)
    const sink = await api.ok('getSink', { params: { id } })
    if (sink.lag_entries > 0) throw new Error(`${sink.lag_entries} entries behind`)
    return sink
  }, PATIENCE)

/** Appends entries. */
export async function append(api: Api, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await api.ok('appendEntry', { body: { action: 'tool.run', metadata: { i } } })
}
