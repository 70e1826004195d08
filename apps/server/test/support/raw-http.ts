import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** A connection to a server, byte for byte. */
export class RawConnection {
  readonly socket: Socket
  readonly #closed: Promise<unknown>
  received = ''

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect(Number(port), hostname === 'localhost' ? '127.0.0.1' : hostname)
    this.socket.on('data', (chunk) => (this.received += chunk.toString()))
    // A reset shows in what is missing from `received`.
    this.socket.on('error', () => undefined)
    // Not `once`, which would reject for a reset.
    this.#closed = new Promise((resolve) => this.socket.once('close', resolve))
  }

  send(text: string): void {
    this.socket.write(text)
  }

  /** Resolves when what was received contains the text; rejects when the server hangs up before. */
  async receives(text: string): Promise<void> {
    while (!this.received.includes(text)) {
      if (this.socket.closed)
        throw new Error(`closed before ${JSON.stringify(text)}: ${this.received}`)
      await Promise.race([once(this.socket, 'data'), this.#closed])
    }
  }

  /** Everything up to the end of the connection. */
  async all(): Promise<string> {
    await this.#closed
    return this.received
  }
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** The last answer in a received text. */
export function parseAnswer(text: string): RawAnswer {
  const answer = text.slice(text.lastIndexOf('HTTP/1.1 '))
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2)
  const [line = '', ...fields] = head.split('\r\n')
  const headers = new Headers(fields.map((field) => field.split(/: ?(.*)/s, 2) as [string, string]))
  return { status: Number(line.split(' ')[1]), headers, body }
}
