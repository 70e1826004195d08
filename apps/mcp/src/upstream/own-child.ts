import type { Child } from '../stdio/child.ts'
import { PipedUpstream } from '../stdio/upstream.ts'
import { readUpstream } from '../rpc/message.ts'
import type { Message, Notification, Response, Request } from '../rpc/message.ts'
import type { Connection, OpenStream, Outgoing } from './connection.ts'
import { notification } from '../rpc/answers.ts'
import type { Members } from '../rpc/members.ts'
import { metaOf, SUBSCRIPTION_ID } from '../rpc/protocol.ts'
import { splice } from '../rpc/splice.ts'

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

/**
 * A server on stdio that all requests of an agent share, as they can since 2026-07-28. Clients choose ids
 * and progress tokens for themselves, so that the server gets others in their place; all other bytes stay.
 */
export class SharedChild implements Connection {
  readonly ended: Promise<string>
  readonly #child: Child
  readonly #piped: PipedUpstream
  readonly #open = new Map<string, Outgoing>()
  #count = 0
  /** Receives what names no request, for a server of 2025-11-25. */
  #listener: ((message: Message) => void) | null = null

  constructor(child: Child, warn: (text: string) => void) {
    this.#child = child
    this.ended = child.ended
    this.#piped = new PipedUpstream(child, { warn, message: (message) => this.#route(message) })
  }

  get isUsed(): boolean {
    return this.#open.size > 0
  }

  async call(outgoing: Outgoing): Promise<Buffer> {
    const { request, signal } = outgoing
    const alias = `remit-${++this.#count}`
    const value = JSON.stringify(alias)
    const renamed = splice(request.bytes, ['id'], value) ?? request.bytes
    const bytes = splice(renamed, ['params', '_meta', 'progressToken'], value) ?? renamed
    this.#open.set(alias, outgoing)
    try {
      return restored(await this.#piped.call(alias, bytes, signal), request)
    } catch (error) {
      if (signal.aborted) await this.#cancel(alias, metaOf(request.params))
      throw error
    } finally {
      this.#open.delete(alias)
    }
  }

  send({ bytes }: Notification | Response): Promise<void> {
    return this.#piped.send(bytes)
  }

  listen(_: AbortSignal, message: (message: Message) => void): Promise<OpenStream> {
    this.#listener = message
    return Promise.resolve({ ended: this.ended })
  }

  stop(): Promise<void> {
    return this.#child.stop()
  }

  /** A pipe has one stream: a message belongs to the request that it names, or to the only one there is. */
  #route(message: Message): void {
    if (message.kind !== 'notification') {
      this.#listener?.(message)
      return
    }
    const { progressToken } = message.params
    const named = progressToken ?? metaOf(message.params)[SUBSCRIPTION_ID]
    if (named === undefined && this.#listener) {
      this.#listener(message)
      return
    }
    if (named === undefined) {
      const [only, ...others] = this.#open.values()
      if (only && others.length === 0) only.message(message)
      return
    }
    const outgoing = typeof named === 'string' ? this.#open.get(named) : undefined
    if (!outgoing) return
    const { request } = outgoing
    const [path, own] =
      progressToken === undefined
        ? [['params', '_meta', SUBSCRIPTION_ID], request.id]
        : [['params', 'progressToken'], metaOf(request.params)['progressToken']]
    const bytes = splice(message.bytes, path, JSON.stringify(own ?? null))
    if (bytes) outgoing.message(readUpstream(bytes))
  }

  async #cancel(requestId: string, envelope: Members): Promise<void> {
    const { progressToken: _, ...meta } = envelope
    const text = notification('notifications/cancelled', { requestId, _meta: meta })
    await this.#piped.send(Buffer.from(text))
  }
}

function restored(bytes: Buffer, { id, method }: Request): Buffer {
  const value = JSON.stringify(id)
  const own = splice(bytes, ['id'], value) ?? bytes
  if (method !== 'subscriptions/listen') return own
  return splice(own, ['result', '_meta', SUBSCRIPTION_ID], value) ?? own
}
