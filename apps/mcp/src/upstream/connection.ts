import type { Message, Notification, Request, Response } from '../rpc/message.ts'

export interface Outgoing {
  readonly request: Request
  readonly signal: AbortSignal
  /** Headers of the client that mirror arguments, by name; for a server on HTTP. */
  readonly mirrored: Readonly<Record<string, string>>
  /** Receives what the server sends about this request before its response. */
  readonly message: (message: Message) => void
  /** Receives the status of the response of a server on HTTP. */
  readonly answered: (status: number) => void
}

/** The stream of messages that belong to no request. */
export interface OpenStream {
  readonly ended: Promise<unknown>
}

/** A server, as one session of a client or as the requests of an agent reach it. */
export interface Connection {
  /** Resolves with the response. Rejects with `Refused` or `UpstreamGone`, or as `signal` says. */
  call(outgoing: Outgoing): Promise<Buffer>
  /** Sends a notification of the client, or its response to a request of the server. */
  send(message: Notification | Response): Promise<void>
  /**
   * Opens the stream of messages that belong to no request of the client. Resolves once it is open, or
   * with null where the server has no such stream.
   */
  listen(signal: AbortSignal, message: (message: Message) => void): Promise<OpenStream | null>
  /** Ends the connection, and the server if it was started for it. */
  stop(): Promise<void>
}

/** A request that a server on HTTP refused before it was an MCP request: the client has to know how. */
export class Refused extends Error {
  readonly status: number
  readonly body: Buffer
  constructor(status: number, body: Buffer) {
    super(`The server answered with status ${status}.`)
    this.status = status
    this.body = body
  }
}
