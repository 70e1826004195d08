import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** A message as it came. */
export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type Answer = (response: ServerResponse, nth: number) => void

/** A webhook receiver on loopback with configurable responses. */
export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly received: readonly Received[]
  /** 204 unless set. */
  answer: Answer
  /** All messages, once there are `count`; rejects after a minute. */
  until(count: number): Promise<readonly Received[]>
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      const headers = request.headers as Record<string, string>
      received.push({ path: request.url ?? '', headers, body })
      receiver.answer(response, received.length)
      for (const look of waiting) look()
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer: (response) => response.writeHead(204).end(),
    until: (count) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`${received.length} of ${count} messages came`)),
          60_000,
        )
        const look = () => {
          if (received.length < count) return
          clearTimeout(late)
          waiting.delete(look)
          resolve(received)
        }
        waiting.add(look)
        look()
      }),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}

export interface Message {
  readonly type: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The verified content of a message; throws if its signature or time is invalid. */
export const verified = (secret: string | null, { headers, body }: Received): Message =>
  new Webhook(secret ?? '').verify(body, headers) as Message
