import { readUpstream } from '../rpc/message.ts'
import type { Message, Notification, Response } from '../rpc/message.ts'
import { eraOf } from '../rpc/protocol.ts'
import { Refused } from '../upstream/connection.ts'
import type { Connection, OpenStream, Outgoing } from '../upstream/connection.ts'
import { LegacyServer } from './legacy-server.ts'
import { ModernServer } from './modern-server.ts'
import { eraOfServer } from './probe.ts'

type Translator = LegacyServer | ModernServer

/** Receivers of translated messages that belong to no request of the client. */
export interface Receivers {
  /** Learns of changes that a client of 2026-07-28 is told only where it listens. */
  readonly observe: (message: Message) => void
  /** Passes a message on to a client of 2025-11-25. */
  readonly tell: (message: Message) => void
}

/**
 * A server for clients of either revision. Where it speaks the revision of the client, bytes pass; where it
 * does not, messages are translated.
 */
export class AnyRevision implements Connection {
  readonly #server: Connection
  readonly #receivers: Receivers
  #translator: Translator | null = null
  #isNative = false
  #finding: Promise<void> | null = null

  constructor(server: Connection, receivers: Receivers) {
    this.#server = server
    this.#receivers = receivers
  }

  async call(outgoing: Outgoing): Promise<Buffer> {
    const { request } = outgoing
    if (eraOf(request) === 'modern') await this.#findForModern()
    else if (request.method === 'initialize') return this.#initialize(outgoing)
    return (this.#translator ?? this.#server).call(outgoing)
  }

  send(message: Notification | Response): Promise<void> {
    return (this.#translator ?? this.#server).send(message)
  }

  listen(signal: AbortSignal, message: (message: Message) => void): Promise<OpenStream | null> {
    return (this.#translator ?? this.#server).listen(signal, message)
  }

  stop(): Promise<void> {
    return (this.#translator ?? this.#server).stop()
  }

  /** Takes a message of a pipe; false where it is one for the client as it is. */
  receive(message: Message): boolean {
    this.#translator?.receive(message)
    return this.#translator !== null
  }

  async #findForModern(): Promise<void> {
    if (this.#isNative || this.#translator) return
    this.#finding ??= (async () => {
      if ((await eraOfServer(this.#server)) === 'modern') this.#isNative = true
      else this.#translator = new LegacyServer(this.#server, this.#receivers.observe)
    })().finally(() => {
      this.#finding = null
    })
    await this.#finding
  }

  /** Only a server that refuses `initialize` is asked for its revision. */
  async #initialize(outgoing: Outgoing): Promise<Buffer> {
    if (this.#translator) return this.#translator.call(outgoing)
    const refused = await this.#server.call(outgoing).catch((error: unknown) => {
      if (error instanceof Refused) return error
      throw error
    })
    if (!(refused instanceof Refused)) {
      const answer = readUpstream(refused)
      if (answer.kind !== 'response' || answer.error === null) return refused
    }
    if ((await eraOfServer(this.#server)) === 'modern') {
      const translator = new ModernServer(this.#server, this.#receivers.tell)
      this.#translator = translator
      return translator.call(outgoing)
    }
    if (refused instanceof Refused) throw refused
    return refused
  }
}
