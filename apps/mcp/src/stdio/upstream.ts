import { keyOf } from '../rpc/members.ts'
import type { Id } from '../rpc/members.ts'
import { NotAMessage, readUpstream } from '../rpc/message.ts'
import type { Message, Request } from '../rpc/message.ts'
import { linesOf, writeLine } from './child.ts'
import type { Child } from './child.ts'

/** Larger than any message of a sane server, smaller than the memory of a gateway. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

export class UpstreamGone extends Error {}

export interface UpstreamEvents {
  /** A request or notification of the server, or a response that nobody waits for. */
  readonly message: (message: Message) => Promise<void> | void
  readonly warn: (text: string) => void
}

interface Waiting {
  readonly resolve: (bytes: Buffer) => void
  readonly reject: (error: Error) => void
}

/** A server on pipes: pairs its responses with requests, and hands over everything else. */
export class PipedUpstream {
  readonly #child: Child
  readonly #waiting = new Map<string, Waiting>()
  #gone: UpstreamGone | null = null

  constructor(child: Child, events: UpstreamEvents) {
    this.#child = child
    void child.ended.then((reason) => this.#end(reason))
    void this.#read(events)
  }

  /** Resolves with the response. Rejects if the id is in use, or when the server ends or `signal` aborts. */
  call(id: Id, bytes: Buffer, signal?: AbortSignal): Promise<Buffer> {
    const key = keyOf(id)
    if (this.#gone) return Promise.reject(this.#gone)
    if (signal?.aborted) return Promise.reject(cancelledError(signal))
    if (this.#waiting.has(key)) return Promise.reject(new Error(`The id ${key} is in use.`))
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(key)
        reject(cancelledError(signal))
      }
      const done = () => signal?.removeEventListener('abort', abort)
      this.#waiting.set(key, {
        resolve: (response) => {
          done()
          resolve(response)
        },
        reject: (error) => {
          done()
          reject(error)
        },
      })
      signal?.addEventListener('abort', abort, { once: true })
      void writeLine(this.#child.stdin, bytes)
    })
  }

  /** Sends a message that has no response, or that is one. */
  send(bytes: Buffer): Promise<void> {
    return writeLine(this.#child.stdin, bytes)
  }

  async #read({ message, warn }: UpstreamEvents): Promise<void> {
    try {
      for await (const line of linesOf(this.#child.stdout, MAX_MESSAGE_BYTES)) {
        const read = this.#parse(line, warn)
        if (!read) continue
        if (read.kind === 'response') {
          const key = keyOf(read.id)
          const waiting = this.#waiting.get(key)
          this.#waiting.delete(key)
          if (waiting) waiting.resolve(line)
        } else await message(read)
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#end(reason)
      await this.#child.stop()
    }
  }

  #parse(line: Buffer, warn: UpstreamEvents['warn']): Message | null {
    try {
      return readUpstream(line)
    } catch (error) {
      if (!(error instanceof NotAMessage)) throw error
      warn(`The server wrote a line that is no message: ${error.message}`)
      return null
    }
  }

  #end(reason: string): void {
    this.#gone ??= new UpstreamGone(`The server is not available: ${reason}.`)
    for (const { reject } of this.#waiting.values()) reject(this.#gone)
    this.#waiting.clear()
  }
}

const cancelledError = (signal: AbortSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new Error('The request was cancelled.')

/** The request that a cancellation names; undefined for any other message. */
export const cancelledBy = (message: Exclude<Message, Request>): unknown =>
  message.kind === 'notification' && message.method === 'notifications/cancelled'
    ? message.params['requestId']
    : undefined
