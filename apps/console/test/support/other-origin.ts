import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of somebody else, whose pages run what a test gives them. */
export interface OtherOrigin {
  readonly port: number
  /** The body of its page. */
  html: string
  close(): Promise<void>
}

export async function startOtherOrigin(): Promise<OtherOrigin> {
  const self = { html: '' }
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>other</title>${self.html}`)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return Object.assign(self, {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  })
}
