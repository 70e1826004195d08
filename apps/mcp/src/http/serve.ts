import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkKey } from '../credentials/rights.ts'
import { Front } from './front.ts'
import { Gateway } from './gateway.ts'
import type { GatewayOptions } from './gateway.ts'
import { originsOf } from './origins.ts'

/** A gateway that listens. */
export interface Served {
  /** Its address as clients know it. */
  readonly url: string
  /** Ends it once the requests under way are answered. */
  stop(): Promise<void>
}

/** Milliseconds for the body of a request. */
const REQUEST_MS = 60_000

/** Starts a gateway on HTTP. Rejects where its port is taken, or its key cannot be used. */
export async function serve(options: GatewayOptions): Promise<Served> {
  const { host, port, publicUrl, config } = options.settings
  const gateway = new Gateway(options)
  await checkKey({
    client: gateway.reporter,
    url: options.url,
    hasGuard: config.results !== 'off',
    warn: options.warn,
  })
  const keepAliveTimeout = config.limits.keep_alive_seconds * 1000
  const server = createServer({ requestTimeout: REQUEST_MS, keepAliveTimeout })
  server.listen({ host, port })
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  const url = publicUrl ?? new URL(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`)
  const origins = originsOf(url, host, config.allowed_origins)
  const front = new Front(gateway, { origins, url })
  server.on('request', (request, response) => void front.handle(request, response))
  return {
    url: url.origin,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      await gateway.stop()
      server.closeAllConnections()
      await closed
    },
  }
}
