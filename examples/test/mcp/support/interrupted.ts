import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Before Remit gets a request of the path, or after it answered; the answer must contain `answer`. */
export interface Place {
  readonly before?: string
  readonly after?: string
  readonly answer?: string
}

/** Remit behind a proxy that can lose one request, or its answer, after a test did something there. */
export async function startInterrupted(target: string) {
  let next: { place: Place; happen: () => Promise<void> } | null = null
  const taken = () => {
    const happen = next?.happen
    next = null
    return happen
  }
  const pass = (from: IncomingMessage, body: Buffer) =>
    new Promise<{ response: IncomingMessage; body: Buffer }>((resolve, reject) => {
      const { method, headers } = from
      const sent = request(new URL(from.url ?? '/', target), { method, headers })
      sent.once('error', reject)
      sent.once('response', (response) => {
        void bytesOf(response).then((bytes) => resolve({ response, body: bytes }), reject)
      })
      sent.end(body)
    })
  const handle = async (from: IncomingMessage, to: ServerResponse) => {
    const path = (from.url ?? '').split('?', 1)[0] ?? ''
    const body = await bytesOf(from)
    if (next?.place.before === path) {
      await taken()?.()
      return to.destroy()
    }
    const answer = await pass(from, body)
    if (next?.place.after === path && answer.body.includes(next.place.answer ?? '')) {
      await taken()?.()
      return to.destroy()
    }
    return to.writeHead(answer.response.statusCode ?? 0, answer.response.headers).end(answer.body)
  }
  const server = createServer((from, to) => void handle(from, to).catch(() => to.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves once the place was reached and `happen` ran; the request, or its answer, is lost. */
    interrupt: (place: Place, happen: () => Promise<void>) =>
      new Promise<void>((resolve, reject) => {
        next = { place, happen: () => happen().then(resolve, reject) }
      }),
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts)
}
