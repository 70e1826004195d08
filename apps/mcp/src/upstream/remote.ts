import type { ClientRequestArgs, IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { urlToHttpOptions } from 'node:url'
import { StringDecoder } from 'node:string_decoder'
import { bodyOf, send } from '@remit/sdk/node'
import { createParser } from 'eventsource-parser'
import type { ParseError } from 'eventsource-parser'
import { keyOf } from '../rpc/members.ts'
import { NotAMessage, readUpstream } from '../rpc/message.ts'
import type { Message, Notification, Request, Response } from '../rpc/message.ts'
import { MAX_MESSAGE_BYTES, UpstreamGone } from '../stdio/upstream.ts'
import { Refused } from './connection.ts'
import type { Connection, OpenStream, Outgoing } from './connection.ts'
import { headersOf, mediaTypeOf, PROTOCOL_VERSION, SESSION_ID } from './headers.ts'

export interface RemoteOptions {
  readonly url: URL
  /** The secret of the gateway, and whatever else the configuration names. */
  readonly headers: Readonly<Record<string, string>>
  readonly warn: (text: string) => void
}

const RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000
const MAX_RESUMES = 1_000
const STOP_MS = 2_000
const END_MS = 5_000

/** A server on streamable HTTP, in one session where it is of 2025-11-25 or before. */
export class Remote implements Connection {
  readonly #options: RemoteOptions
  readonly #address: ClientRequestArgs
  #sessionId: string | undefined
  #version: string | undefined

  constructor(options: RemoteOptions) {
    this.#options = options
    this.#address = urlToHttpOptions(options.url)
  }

  async call({ request, signal, mirrored, message, answered }: Outgoing): Promise<Buffer> {
    const response = await this.#post(request, signal, mirrored)
    const found = await this.#responseIn(response, request, signal, message)
    answered(response.statusCode ?? 200)
    if (request.method === 'initialize') this.#begin(response, found)
    return found
  }

  async send(message: Notification | Response): Promise<void> {
    const response = await this.#post(message, AbortSignal.timeout(30_000))
    const { statusCode = 0 } = response
    if (statusCode >= 300) throw await refusalOf(response)
    response.resume()
  }

  async listen(
    signal: AbortSignal,
    message: (message: Message) => void,
  ): Promise<OpenStream | null> {
    const response = await this.#get(signal)
    if (response.statusCode !== 200 || mediaTypeOf(response) !== 'text/event-stream') {
      response.resume()
      return null
    }
    return { ended: this.#read(response, message) }
  }

  async stop(): Promise<void> {
    if (this.#sessionId === undefined) return
    const { headers } = this.#options
    const signal = AbortSignal.timeout(STOP_MS)
    const own = { ...headers, ...this.#own() }
    // The server may not know how, or may be gone.
    await send(this.#address, { method: 'DELETE', headers: own, signal }).then(
      (response) => response.resume(),
      () => undefined,
    )
  }

  #begin(response: IncomingMessage, found: Buffer): void {
    const id = response.headers[SESSION_ID]
    this.#sessionId = typeof id === 'string' ? id : undefined
    const message = readUpstream(found)
    const version = message.kind === 'response' ? message.result?.['protocolVersion'] : undefined
    this.#version = typeof version === 'string' ? version : undefined
  }

  #own(): Record<string, string> {
    return {
      ...(this.#sessionId !== undefined && { [SESSION_ID]: this.#sessionId }),
      ...(this.#version !== undefined && { [PROTOCOL_VERSION]: this.#version }),
    }
  }

  #post(
    message: Message,
    signal: AbortSignal,
    mirrored: Readonly<Record<string, string>> = {},
  ): Promise<IncomingMessage> {
    const { headers } = this.#options
    return send(this.#address, {
      method: 'POST',
      headers: {
        ...headers,
        ...mirrored,
        ...this.#own(),
        ...headersOf(message),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: message.bytes,
      signal,
    }).catch(gone)
  }

  #get(signal: AbortSignal, lastEventId?: string): Promise<IncomingMessage> {
    const { headers } = this.#options
    return send(this.#address, {
      method: 'GET',
      headers: {
        ...headers,
        ...this.#own(),
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      signal,
    }).catch(gone)
  }

  async #responseIn(
    response: IncomingMessage,
    request: Request,
    signal: AbortSignal,
    message: (message: Message) => void,
  ): Promise<Buffer> {
    const type = mediaTypeOf(response)
    if (type === 'text/event-stream' && response.statusCode === 200)
      return this.#responseAmong(response, request, signal, message)
    if (type !== 'application/json') throw await refusalOf(response)
    const body = await bodyOf(response, MAX_MESSAGE_BYTES).catch(gone)
    if (!isResponseTo(request, body)) throw refusedWith(response, body)
    return body
  }

  /**
   * The response in a stream of events. A server may end the connection before, and go on where the client
   * asks it to after the last event (2025-11-25).
   */
  async #responseAmong(
    first: IncomingMessage,
    request: Request,
    signal: AbortSignal,
    message: (message: Message) => void,
  ): Promise<Buffer> {
    let arrived: Buffer | null = null
    let lastEventId: string | undefined
    let retryMs = RETRY_MS
    const here = Promise.withResolvers<void>()
    const read = async (stream: IncomingMessage): Promise<Buffer | null> => {
      const ended = readEventStream(stream, MAX_MESSAGE_BYTES, {
        retry: (ms) => {
          retryMs = Math.min(ms, LONGEST_RETRY_MS)
        },
        event: ({ id, data }) => {
          lastEventId = id ?? lastEventId
          const one = this.#messageIn(data)
          if (one?.kind === 'response') {
            if (keyOf(one.id) !== keyOf(request.id)) return
            arrived ??= one.bytes
            here.resolve()
          } else if (one && arrived === null) message(one)
        },
      }).catch((error: unknown) => {
        if (arrived === null && !signal.aborted)
          this.#options.warn(`A stream of the server broke off: ${textOf(error)}`)
      })
      await Promise.race([ended, here.promise])
      signal.throwIfAborted()
      if (arrived !== null) closeSoon(stream, ended)
      return arrived
    }
    let found = await read(first)
    for (let resumes = 0; found === null; resumes++) {
      if (lastEventId === undefined || resumes >= MAX_RESUMES)
        throw new UpstreamGone('The server ended the stream without a response.')
      await pause(retryMs, undefined, { signal })
      const again = await this.#get(signal, lastEventId)
      if (again.statusCode !== 200) throw await refusalOf(again)
      found = await read(again)
    }
    return found
  }

  async #read(stream: IncomingMessage, message: (message: Message) => void): Promise<void> {
    await readEventStream(stream, MAX_MESSAGE_BYTES, {
      retry: () => undefined,
      event: ({ data }) => {
        const one = this.#messageIn(data)
        if (one && one.kind !== 'response') message(one)
      },
    }).catch(() => undefined)
  }

  #messageIn(data: string): Message | null {
    // The first event of a stream may have an id and no data.
    if (data === '') return null
    try {
      return readUpstream(Buffer.from(data))
    } catch (error) {
      if (!(error instanceof NotAMessage)) throw error
      this.#options.warn(`The server sent an event that is no message: ${error.message}`)
      return null
    }
  }
}

/** A server should end the stream after the response; its connection is of use again if it does. */
function closeSoon(stream: IncomingMessage, ended: Promise<void>): void {
  const timer = setTimeout(() => stream.destroy(), END_MS).unref()
  void ended.then(() => clearTimeout(timer))
}

function isResponseTo(request: Request, body: Buffer): boolean {
  try {
    const message = readUpstream(body)
    return message.kind === 'response' && keyOf(message.id) === keyOf(request.id)
  } catch (error) {
    if (error instanceof NotAMessage) return false
    throw error
  }
}

async function refusalOf(response: IncomingMessage): Promise<Error> {
  return refusedWith(response, await bodyOf(response, 64 * 1024).catch(() => Buffer.alloc(0)))
}

/** Only the client can repair its request; the credentials of the gateway are none of its business. */
function refusedWith({ statusCode = 0 }: IncomingMessage, body: Buffer): Error {
  const isOfClient = statusCode >= 400 && statusCode < 500 && ![401, 403, 407].includes(statusCode)
  return isOfClient
    ? new Refused(statusCode, body)
    : new UpstreamGone(`The server answered with status ${statusCode}.`)
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function gone(error: unknown): never {
  if (error instanceof Error && error.name === 'AbortError') throw error
  throw new UpstreamGone(`The server is not available: ${textOf(error)}.`)
}

/** An event of a stream; `retry` asks for milliseconds before a new connection. */
interface StreamEvent {
  readonly id: string | undefined
  readonly data: string
}

interface StreamReader {
  readonly event: (event: StreamEvent) => void
  readonly retry: (ms: number) => void
}

/** Reads server-sent events until the stream ends. Rejects where an event has more than `maxBytes`. */
async function readEventStream(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
  { event, retry }: StreamReader,
): Promise<void> {
  let failure: ParseError | null = null
  const parser = createParser({
    maxBufferSize: maxBytes,
    onEvent: ({ id, data }) => event({ id, data }),
    onRetry: retry,
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') failure = error
    },
  })
  const decoder = new StringDecoder('utf8')
  for await (const part of stream) {
    parser.feed(decoder.write(part))
    if (failure) throw failure as ParseError
  }
}
