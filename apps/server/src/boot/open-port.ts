import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, ListenOptions, Server } from 'node:net'

/**
 * Sockets on the one port. Node accepts one connection per socket and turn of the event loop; with a
 * single socket, a new connection waits for all those that came before it, each for a turn. Only Linux
 * is known to spread connections evenly among sockets.
 */
const SOCKETS = process.platform === 'linux' ? 32 : 1

export interface OpenPort {
  readonly address: AddressInfo
  /** Sockets in addition to that of the server itself. */
  readonly others: readonly Server[]
}

/** Listens on a port for `server`. Throws the error of `listen` where it is taken. */
export async function openPort(server: HttpServer, host: string, port: number): Promise<OpenPort> {
  if (SOCKETS === 1) return { address: await listening(server, { host, port }), others: [] }
  const shared = { host, port: await findFree(host, port), reusePort: true }
  const address = await listening(server, shared)
  const others = Array.from({ length: SOCKETS - 1 }, () =>
    // As node:http makes its own sockets.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.emit('connection', socket),
    ),
  )
  await Promise.all(others.map((other) => listening(other, shared)))
  return { address, others }
}

/** Returns the port, or a free one for 0. Throws if another process uses it, also with `reusePort`. */
async function findFree(host: string, port: number): Promise<number> {
  const probe = createServer()
  const address = await listening(probe, { host, port })
  await new Promise((resolve) => probe.close(resolve))
  return address.port
}

async function listening(server: Server, options: ListenOptions): Promise<AddressInfo> {
  server.listen(options)
  await once(server, 'listening')
  return server.address() as AddressInfo
}
