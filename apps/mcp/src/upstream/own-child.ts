import type { Child } from '../stdio/child.ts'
import { PipedUpstream } from '../stdio/upstream.ts'
import type { Message, Notification, Response } from '../rpc/message.ts'
import type { Connection, OpenStream, Outgoing } from './connection.ts'

/** A server on stdio that one session has for itself, as 2025-11-25 needs it. */
export class OwnChild implements Connection {
  readonly #child: Child
  readonly #piped: PipedUpstream

  /** `message` receives all that is no response: a pipe does not say to which request it belongs. */
  constructor(
    child: Child,
    message: (message: Message) => Promise<void> | void,
    warn: (text: string) => void,
  ) {
    this.#child = child
    this.#piped = new PipedUpstream(child, { warn, message })
  }

  call({ request: { id, bytes }, signal }: Outgoing): Promise<Buffer> {
    return this.#piped.call(id, bytes, signal)
  }

  send({ bytes }: Notification | Response): Promise<void> {
    return this.#piped.send(bytes)
  }

  listen(): Promise<OpenStream> {
    return Promise.resolve({ ended: this.#child.ended })
  }

  stop(): Promise<void> {
    return this.#child.stop()
  }
}
