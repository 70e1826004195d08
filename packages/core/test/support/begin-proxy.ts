import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/**
 * The fate of each BEGIN on its way to PostgreSQL: it passes; its answer waits until the client sends
 * a lock; it arrives as another word, which is a syntax error.
 */
export type BeginFate = 'pass' | 'answered after the lock' | 'garbled'

export interface BeginProxy {
  readonly url: string
  fate: BeginFate
  close(): Promise<void>
}

const BEGIN = Buffer.from('begin\0')
const GARBLED = Buffer.from('bogus\0')

/** Stands between a client and a PostgreSQL server. */
export async function startBeginProxy(target: string): Promise<BeginProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => {
      const begin = bytes.indexOf(BEGIN)
      if (begin >= 0 && proxy.fate === 'garbled') GARBLED.copy(bytes, begin)
      if (begin >= 0 && proxy.fate === 'answered after the lock') upstream.pause()
      if (bytes.includes('for update')) upstream.resume()
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => client.write(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const proxy: BeginProxy = {
    url: url.toString(),
    fate: 'pass',
    async close() {
      const closed = new Promise((resolve) => server.once('close', resolve))
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return proxy
}
