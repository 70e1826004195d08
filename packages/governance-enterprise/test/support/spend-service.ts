import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A cost service on loopback with configurable responses, which can be stopped. */
export interface SpendService {
  readonly url: string
  /** Path and query of every request. */
  readonly asked: string[]
  answer: Answer
  start(): Promise<void>
  stop(): Promise<void>
}

export const json =
  (value: unknown, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }

export async function startSpendService(): Promise<SpendService> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    service.answer(response, request)
  })
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', () => resolve())
    })
  await listen(0)
  const { port } = server.address() as AddressInfo
  const service: SpendService = {
    url: `http://127.0.0.1:${port}/spend?source=test`,
    asked,
    answer: json({ usd: 0 }),
    start: () => listen(port),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return service
}
