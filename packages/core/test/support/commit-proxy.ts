import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'

/**
 * The fate of the next COMMIT on its way to PostgreSQL: it passes; it never arrives; it is carried
 * out but the connection breaks before the answer, or at once; it is carried out but answered with
 * an error, as poolers do; it waits for `release`.
 */
export type Fate = 'pass' | 'lost' | 'carried out' | 'cut' | 'denied' | 'held'

export interface CommitProxy {
  readonly url: string
  /** Fate of the next COMMIT; those after it pass. Resolves when it has come about. */
  next(fate: Fate): Promise<void>
  /** Sends on the COMMIT that is held. */
  release(): void
  /** Refuses new connections, and breaks those there are. */
  unplug(): void
  close(): Promise<void>
}

// PostgreSQL frontend/backend protocol: a simple query, and how it is completed.
const COMMIT = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1')
const COMPLETED = Buffer.from('C\0\0\0\x0bCOMMIT\0', 'latin1')
const INTERNAL_ERROR = message('E', 'SERROR\0CXX000\0Mserver conn crashed?\0\0')
const READY = message('Z', 'I')

function message(type: string, body: string): Buffer {
  const header = Buffer.from(`${type}\0\0\0\0`, 'latin1')
  header.writeInt32BE(4 + Buffer.byteLength(body), 1)
  return Buffer.concat([header, Buffer.from(body)])
}

/** Stands between a client and a PostgreSQL server and decides what becomes of single commits. */
export async function startCommitProxy(target: string): Promise<CommitProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let fate: Fate = 'pass'
  let onFate = () => {}
  let release = () => {}

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    /** The fate of the commit that is being answered. */
    let answering: Fate = 'pass'
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.end()
      })
    }
    const decide = (): Fate => {
      const decided = fate
      fate = 'pass'
      return decided
    }
    client.on('data', (bytes) => {
      const now = bytes.includes(COMMIT) ? decide() : 'pass'
      if (now === 'lost') {
        client.destroy()
        upstream.destroy()
      } else if (now === 'held') {
        release = () => upstream.write(bytes)
      } else {
        upstream.write(bytes)
        answering = now
        if (now === 'cut') client.destroy()
      }
      if (now === 'lost' || now === 'held' || now === 'cut') onFate()
    })
    upstream.on('data', (bytes) => {
      if ((answering === 'carried out' || answering === 'denied') && bytes.includes(COMPLETED)) {
        if (answering === 'denied') client.write(Buffer.concat([INTERNAL_ERROR, READY]))
        else client.destroy()
        answering = 'pass'
        onFate()
      } else if (!client.destroyed) client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(typeof address === 'object' ? address?.port : '')
  const unplug = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.toString(),
    next: (wanted) =>
      new Promise((resolve) => {
        fate = wanted
        onFate = resolve
      }),
    release: () => release(),
    unplug,
    close: async () => {
      const closed = new Promise((resolve) => server.once('close', resolve))
      if (!server.listening) return
      unplug()
      await closed
    },
  }
}
