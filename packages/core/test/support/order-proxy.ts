import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** Holds the answers of PostgreSQL back, from one text that the client sends until another one. */
interface Hold {
  readonly from: string
  readonly until: string
}

export interface OrderProxy {
  readonly url: string
  hold: Hold | null
  /** Each BEGIN arrives as another word, which is a syntax error. */
  garblesBegin: boolean
  close(): Promise<void>
}

const BEGIN = Buffer.from('begin\0')
const GARBLED = Buffer.from('bogus\0')

/** Stands between a client and a PostgreSQL server. */
export async function startOrderProxy(target: string): Promise<OrderProxy> {
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
      if (begin >= 0 && proxy.garblesBegin) GARBLED.copy(bytes, begin)
      if (proxy.hold && bytes.includes(proxy.hold.from)) upstream.pause()
      if (proxy.hold && bytes.includes(proxy.hold.until)) upstream.resume()
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => client.write(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const proxy: OrderProxy = {
    url: url.toString(),
    hold: null,
    garblesBegin: false,
    async close() {
      const closed = new Promise((resolve) => server.once('close', resolve))
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return proxy
}
