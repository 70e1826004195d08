import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { ServerOptions } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { TLS_CERTIFICATE, TLS_KEY } from '@remit/testing/pure'

/** A server of somebody else on loopback, which counts who connects. */
export interface Host extends AsyncDisposable {
  readonly port: number
  readonly url: string
  connections(): number
}

export const httpHost = (listener: RequestListener): Promise<Host> =>
  start(createServer(listener), 'http')

export const httpsHost = (listener: RequestListener, options: ServerOptions = {}): Promise<Host> =>
  start(createTlsServer({ key: TLS_KEY, cert: TLS_CERTIFICATE, ...options }, listener), 'https')

/** A server that speaks as `onSocket` does. */
export const tcpHost = (onSocket: (socket: Socket) => void): Promise<Host> =>
  start(createTcpServer(onSocket), 'http')

async function start(server: Server, scheme: string): Promise<Host> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${scheme}://localhost:${port}/hook`,
    connections: () => connections,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
