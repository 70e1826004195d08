import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * The responses that a server has not finished, by connection.
 *
 * One short array per connection, and no `Set` of responses: V8 replaces the table of a `Set` that
 * changes often, and each old table keeps the next one alive with the responses in it, so that every
 * request is copied to the old generation.
 */
export class OpenResponses {
  readonly #byConnection = new Map<Duplex, ServerResponse[]>()

  constructor(server: Server) {
    server.on('connection', (socket: Duplex) => {
      this.#byConnection.set(socket, [])
      socket.once('close', () => this.#byConnection.delete(socket))
    })
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const responses = this.#byConnection.get(socket)
      // Finished responses leave here, without a listener for each.
      while (responses?.[0]?.destroyed) responses.shift()
      responses?.push(response)
    })
  }

  /** The open responses of one connection, oldest first. */
  of(socket: Duplex): ServerResponse[] {
    return (this.#byConnection.get(socket) ?? []).filter((response) => !response.destroyed)
  }

  all(): ServerResponse[] {
    return [...this.#byConnection.keys()].flatMap((socket) => this.of(socket))
  }
}
