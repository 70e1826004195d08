import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** One address that leads to the server that is the primary now, as a proxy or a service does. */
export interface MovingAddress {
  readonly url: string
  /** Leads elsewhere and closes what led to the server before. */
  moveTo(target: string): void
  close(): Promise<void>
}

/** Starts a TCP proxy on a free port of the loopback address. */
export async function startMovingAddress(target: string): Promise<MovingAddress> {
  let port = Number(new URL(target).port)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.toString(),
    moveTo(next) {
      port = Number(new URL(next).port)
      cut()
    },
    async close() {
      const closed = new Promise((resolve) => server.once('close', resolve))
      server.close()
      cut()
      await closed
    },
  }
}
