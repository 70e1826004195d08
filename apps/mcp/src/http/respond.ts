import type { ServerResponse, IncomingMessage } from 'node:http'
import type { Session } from '../decide/session.ts'
import { keyOf } from '../rpc/members.ts'
import type { Id } from '../rpc/members.ts'
import { readMessage } from '../rpc/message.ts'
import type { Message, Request } from '../rpc/message.ts'
import { eraOf, isKnownMethod } from '../rpc/protocol.ts'
import { Refused } from '../upstream/connection.ts'
import type { Connection } from '../upstream/connection.ts'
import { CODES, errorAnswer } from '../rpc/answers.ts'
import type { Accepted } from './headers.ts'
import { mediaTypeOf } from '../upstream/headers.ts'
import { bodyOf, BodyTooLong } from '@remit/sdk/node'

interface Way {
  readonly session: Session
  readonly connection: Connection
  readonly signal: AbortSignal
  readonly mirrored: Readonly<Record<string, string>>
  readonly message: (message: Message) => void
}

/** Decides a request, forwards it and answers it. Resolves with the status of the response. */
export async function respond(request: Request, reply: Reply, way: Way): Promise<number> {
  const { session, connection, signal, mirrored, message } = way
  let refused: Refused | null = null
  let answeredWith = isKnownMethod(eraOf(request), request.method) ? 200 : 404
  try {
    const response = await session.respond(request, {
      signal,
      gone: reply.gone,
      notify: (text) => reply.message({ bytes: Buffer.from(text) }),
      async call(bytes, until = signal) {
        const outgoing = bytes === request.bytes ? request : (readMessage(bytes) as Request)
        const isOwn = keyOf(outgoing.id) !== keyOf(request.id)
        try {
          const answered = (code: number) => {
            if (!isOwn) answeredWith = code
          }
          return await connection.call({
            request: outgoing,
            signal: until,
            mirrored,
            message,
            answered,
          })
        } catch (error) {
          if (error instanceof Refused && !isOwn) refused = error
          throw error
        }
      },
    })
    // Since 2026-07-28 an unknown method is a resource that does not exist.
    const own = eraOf(request) === 'modern' ? answeredWith : 200
    const { status, body } = refused ?? { status: own, body: response }
    reply.end(body, status)
    return status
  } catch (error) {
    // A cancelled request has no response.
    if (!signal.aborted) throw error
    reply.close(202)
    return 202
  }
}

/** A request that is refused before it is decided. */
export class Fault extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly answer: string
  constructor(
    status: number,
    message: string,
    {
      code = CODES.refused,
      id = null,
      headers = {},
    }: { code?: number; id?: Id | null; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.status = status
    this.headers = headers
    this.answer = errorAnswer(id, code, message)
  }
}

/** Milliseconds without a word, after which a proxy or a client might give up. */
const QUIET_MS = 15_000
/** A client that reads this much too slowly is given up. */
const MAX_BEHIND = 64 * 1024 * 1024
/** Made once: every response ends with it. */
const CLOSED = new DOMException('The response is closed.', 'AbortError')

/**
 * The response to a request: JSON if nothing comes before it, else a stream of events, which begins with
 * the first message or when it takes long. A client that takes one of both gets that one.
 */
export class Reply {
  readonly #response: ServerResponse
  readonly #accepted: Accepted
  readonly #headers: Record<string, string> = {}
  readonly #timer: NodeJS.Timeout
  readonly #gone = new AbortController()
  #isStream = false

  constructor(response: ServerResponse, accepted: Accepted) {
    this.#response = response
    this.#accepted = accepted
    this.#timer = setInterval(() => this.#sayNothing(), QUIET_MS).unref()
    response.once('close', () => {
      clearInterval(this.#timer)
      this.#gone.abort(CLOSED)
    })
  }

  /** Aborted once the connection of the response is no longer of use, or the response is sent. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed
  }

  /** True where messages of the server can come before the response. */
  get takesMessages(): boolean {
    return this.isOpen && this.#accepted.stream
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value
  }

  /** Begins the stream of events. */
  open(): void {
    if (this.#isStream || !this.takesMessages) return
    this.#isStream = true
    this.#response.writeHead(200, {
      ...this.#headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    this.#response.flushHeaders()
  }

  /** Sends a message of the server before the response, where the client takes it. */
  message({ bytes }: Pick<Message, 'bytes'>): void {
    if (!this.takesMessages) return
    this.open()
    if (this.#response.writableLength > MAX_BEHIND) this.#response.destroy()
    else this.#response.write(eventOf(bytes))
  }

  /** Sends the response; `status` counts unless the stream has begun. */
  end(bytes: Buffer | string, status = 200): void {
    if (!this.isOpen) return
    clearInterval(this.#timer)
    if (!this.#accepted.json && status === 200) this.open()
    if (this.#isStream) {
      this.#response.end(eventOf(bytes))
      return
    }
    this.#response.writeHead(status, {
      ...this.#headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(bytes),
    })
    this.#response.end(bytes)
  }

  /** Ends the stream, or the response to a message that has none. */
  close(status = 202): void {
    if (!this.isOpen) return
    clearInterval(this.#timer)
    if (!this.#isStream) this.#response.writeHead(status, { ...this.#headers, 'content-length': 0 })
    this.#response.end()
  }

  #sayNothing(): void {
    if (!this.takesMessages) return
    this.open()
    this.#response.write(':\n\n')
  }
}

/** A line end within JSON is white space, and begins a further line of data. */
function eventOf(json: Buffer | string): Buffer {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json
  const isOneLine = !bytes.includes(0x0a) && !bytes.includes(0x0d)
  const data = isOneLine
    ? [bytes]
    : [Buffer.from(bytes.toString('utf8').replace(/\r\n?|\n/g, '\ndata: '))]
  return Buffer.concat([Buffer.from('data: '), ...data, Buffer.from('\n\n')])
}

/** The message of a request. Throws `Fault`, or `NotAMessage`, which has its own answer. */
export async function messageIn(request: IncomingMessage, maxBytes: number): Promise<Message> {
  if (mediaTypeOf(request) !== 'application/json')
    throw new Fault(415, 'Content-Type: must be application/json.')
  if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? ''))
    throw new Fault(415, 'Content-Encoding: must not be sent.', {
      headers: { 'accept-encoding': 'identity' },
    })
  const tooLong = () => new Fault(413, `The body must have at most ${maxBytes} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong()
  try {
    return readMessage(await bodyOf(request, maxBytes))
  } catch (error) {
    if (error instanceof BodyTooLong) throw tooLong()
    throw error
  }
}

export const tooMany = (what: string): Fault =>
  new Fault(503, `Too many ${what}; try again later.`, { headers: { 'retry-after': '5' } })
