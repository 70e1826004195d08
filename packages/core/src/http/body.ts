import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { endpoints } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import type { Context } from 'hono'
import { parseStrictJson, StrictJsonError } from '@remit/contract/json'
import type { JsonLimits } from '@remit/contract/json'
import { fail, invalid, Failure } from '../base/errors.ts'
import type { Route } from './endpoint.ts'
import { sliced } from '../computing/computing.ts'
import { Refusal } from '../threads/job.ts'
import type { Job } from '../threads/job.ts'
import type { Computer } from '../threads/pool.ts'
import { Turns } from '../threads/turns.ts'
import { checkShape } from '../base/fields.ts'
import { headerOf, incomingOf } from './header.ts'
import type { RequestTurns } from './limits.ts'
import { cutErrors } from './problem.ts'

/** Bodies from this size are parsed by a worker: about 10 ms for the slowest input. */
const LARGE_BYTES = 64 * 1024
/** Many times the duration of the largest body. */
const LIMIT_MS = 10_000
const IN_FLIGHT = { size: Infinity, each: 4, waiting: { each: 64, total: Infinity } }

/** Parses the members of a body as a form or JSON, without further checks. */
export const readFields = (endpoint: Endpoint, c: Context, bytes: Uint8Array): unknown =>
  endpoint.form && isForm(c) ? parseForm(bytes) : parseBody(endpoint, bytes)

/** A body as it came, and as its endpoint describes it. */
export interface Body {
  readonly bytes: Uint8Array
  readonly value: unknown
}

/**
 * Reads the bodies of requests. A worker parses large ones, so that other requests need not wait.
 * The number of large bodies per organization is limited; excess ones get `jobs_busy`.
 */
export class Bodies {
  readonly #computer: Computer
  readonly #requests: RequestTurns
  readonly #turns = new Turns(IN_FLIGHT)

  constructor(computer: Computer, requests: RequestTurns) {
    this.#computer = computer
    this.#requests = requests
  }

  /**
   * Throws 415 (400 if the endpoint is lenient) for an unsupported media type, 413 above the
   * maximum size, 429 for too many large bodies, and 400 for an invalid body. `owner` is the
   * organization. `early` has the bytes if they were read before.
   */
  async read(route: Route, c: Context, owner: string, early?: Promise<Uint8Array>): Promise<Body> {
    if (early) return this.#body(route, c, owner, await early)
    const { endpoint } = route
    requireType(c, endpoint)
    const max = endpoint.maxBodyBytes ?? MAX_BODY_BYTES
    const declared = Number(headerOf(c, 'content-length') ?? 0)
    if (declared > LARGE_BYTES && declared <= max)
      return this.#turns.run(owner, async () => this.#large(route, await readBytes(c, max), owner))
    return this.#body(route, c, owner, await readBytes(c, max))
  }

  async #body(route: Route, c: Context, owner: string, bytes: Uint8Array): Promise<Body> {
    const { endpoint } = route
    if (bytes.length > LARGE_BYTES)
      return this.#turns.run(owner, () => this.#large(route, bytes, owner))
    const turn = this.#requests.take(owner)
    if (turn) await turn
    const fields = readFields(endpoint, c, bytes)
    return { bytes, value: endpoint.body && checkShape(endpoint.body, fields) }
  }

  async #large({ name, endpoint }: Route, bytes: Uint8Array, owner: string): Promise<Body> {
    const value = isDescribed(name, endpoint)
      ? await this.#apart(name, bytes, owner)
      : checkBody(endpoint, bytes)
    return { bytes, value }
  }

  async #apart(endpoint: string, bytes: Uint8Array, owner: string): Promise<unknown> {
    const { parts, ended } = await this.#computer
      .run(owner, bodyJob, { endpoint, bytes }, LIMIT_MS)
      .catch((error: unknown) => {
        throw error instanceof Refusal ? bodyRefusal(error) : error
      })
    const [pieces] = parts
    if (!pieces)
      throw fail('overloaded', `Parsing the body needs too much ${ended}`, {
        headers: { 'Retry-After': '1' },
      })
    const pacing = { now: () => performance.now(), pause: () => setImmediate() }
    return assembled(pieces, sliced(pacing))
  }
}

/** The worker knows the endpoints of the contract by name. */
const isDescribed = (name: string, endpoint: Endpoint): boolean => endpoints[name] === endpoint

/** Maximum size of a JSON body, unless the endpoint has its own. */
const MAX_BODY_BYTES = 1024 * 1024

/** Bodies are never decompressed: a small body must not become a large one. */
const NOT_ENCODED = /^(identity)?$/i

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * Rejects an unsupported media type (415, or 400 if the endpoint is lenient) and a content coding
 * (415).
 */
export function requireType(
  c: Context,
  { lenient, form }: Pick<Endpoint, 'form'> & { readonly lenient?: true | undefined },
): void {
  const type = headerOf(c, 'content-type')
  if (type !== 'application/json' && !JSON_TYPE.test(type ?? '') && !(form && isForm(c))) {
    const code = lenient ? 'invalid_request' : 'unsupported_media_type'
    const forms = form ? ' or application/x-www-form-urlencoded' : ''
    throw fail(code, `Send Content-Type: application/json${forms}`)
  }
  if (!NOT_ENCODED.test(headerOf(c, 'content-encoding') ?? '')) {
    throw fail('unsupported_media_type', 'Send the body without Content-Encoding', {
      headers: { 'Accept-Encoding': 'identity' },
    })
  }
}

/** Returns the bytes of a body that the endpoint accepts; see `requireType` and `readBytes`. */
export async function readBody(c: Context, endpoint: Endpoint): Promise<Uint8Array> {
  requireType(c, endpoint)
  return readBytes(c, endpoint.maxBodyBytes ?? MAX_BODY_BYTES)
}

/** Returns the bytes of a request body; throws 413 above `maxBytes`. */
async function readBytes(c: Context, maxBytes: number): Promise<Uint8Array> {
  if (Number(headerOf(c, 'content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const incoming = incomingOf(c)
  // Node's own stream returns the bytes unchanged; the Request around it would copy them.
  return incoming ? readIncoming(incoming, maxBytes) : readRequest(c.req.raw, maxBytes)
}

/** Returns true if the media type of the body is a form. */
const isForm = (c: Context): boolean => FORM_TYPE.test(headerOf(c, 'content-type') ?? '')

/** Also counts the bytes of a body without a declared length. */
function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const chunks: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
    else {
      incoming.off('data', onData)
      reject(tooLarge(maxBytes))
    }
  }
  const onEnd = () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
  // `close` also follows a normal end; an unused error is still expensive to create.
  const onBreak = () => {
    if (!incoming.readableEnded) reject(invalid('body', 'was not received completely'))
  }
  // A client that has disconnected sends no further event.
  if (incoming.destroyed) reject(invalid('body', 'was not received completely'))
  else incoming.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
  return promise
}

async function readRequest(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  // In chunks, because a body without a declared length may be endless.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const tooLarge = (maxBytes: number): Failure =>
  fail('body_too_large', `The body must not exceed ${maxBytes} bytes`)

// Limits of a body: far above the needs of a request, far below the maximum for its bytes.
const BYTES_PER_PART = 20
const MAX_NAMES = 5_000
const MAX_VALUES = 1_000_000

/**
 * Parses the body of a request as its endpoint describes it: a strict JSON object (RFC 7493, see
 * `parseStrictJson`) without U+0000. Throws `invalid_json`, `body_too_large` or `invalid_request`.
 */
const checkBody = (endpoint: Endpoint, bytes: Uint8Array): unknown => {
  const value = parseBody(endpoint, bytes)
  return endpoint.body && checkShape(endpoint.body, value)
}

/** Parses the members of a JSON body, without further checks. */
function parseBody(endpoint: Endpoint, bytes: Uint8Array): unknown {
  const { maxBodyBytes = MAX_BODY_BYTES } = endpoint
  const parts = Math.floor(maxBodyBytes / BYTES_PER_PART)
  const value = readJson(bytes, { parts, names: MAX_NAMES, values: MAX_VALUES })
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('body', 'must be a JSON object')
  return value
}

/**
 * Parses strict JSON without U+0000; throws `invalid_json`, and `body_too_large` beyond the limits.
 */
function readJson(bytes: Uint8Array, limits?: JsonLimits): unknown {
  try {
    return parseStrictJson(bytes, { refuseNul: true, ...(limits && { limits }) })
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    throw fail(error.code === 'too_many_parts' ? 'body_too_large' : 'invalid_json', error.message)
  }
}

/** The media type of requests from OAuth clients (RFC 6749 appendix B). */
export const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

const strict = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses the fields of a form as strings. Repeated fields are rejected because they are ambiguous;
 * fields without a value count as omitted (RFC 6749 §3.2).
 */
export function parseForm(bytes: Uint8Array): Record<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(decode(bytes))) {
    if (fields.has(name)) throw invalid(name, 'is given more than once')
    if (value.includes('\0')) throw invalid(name, 'must not contain U+0000')
    fields.set(name, value)
  }
  return Object.fromEntries([...fields].filter(([, value]) => value !== ''))
}

function decode(bytes: Uint8Array): string {
  try {
    const text = strict.decode(bytes)
    // Escapes must be UTF-8 too; URLSearchParams would insert a replacement character.
    decodeURIComponent(text.replaceAll('+', ' '))
    return text
  } catch {
    throw fail('invalid_request', 'body: must be a UTF-8 form')
  }
}

interface BodyTask {
  /** Name of the endpoint in the contract. */
  readonly endpoint: string
  readonly bytes: Uint8Array
}

/**
 * A checked body as JSON, in pieces that the event loop can parse one by one: the whole with empty
 * lists, and the items of each list. A single text would have to be parsed at once.
 */
interface BodyPieces {
  readonly whole: string
  readonly lists: readonly (readonly [name: string, items: readonly string[]])[]
}

type Members = Record<string, unknown>

/** Reads and checks a body. One part. */
export const bodyJob: Job<BodyTask, BodyPieces> = {
  name: 'body',
  run({ endpoint: name, bytes }, tell) {
    const endpoint = endpoints[name]
    if (!endpoint) throw new Error(`the contract has no endpoint ${name}`)
    try {
      tell(piecesOf(checkBody(endpoint, bytes) as Members))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const { code, message, extras } = error
      throw new Refusal({ code, message, extras: cutErrors(extras) } satisfies SentFailure)
    }
  },
}

type SentFailure = Pick<Failure, 'code' | 'message' | 'extras'>

/** Converts the refusal of a body from the thread into a failure. */
function bodyRefusal({ reason }: Refusal): Failure {
  const { code, message, extras } = reason as SentFailure
  return new Failure(code, message, extras)
}

function piecesOf(body: Members): BodyPieces {
  const lists = Object.entries(body).flatMap(([name, items]) =>
    Array.isArray(items) && name !== '__proto__' ? [[name, items as unknown[]] as const] : [],
  )
  const empty = Object.fromEntries(lists.map(([name]) => [name, []]))
  return {
    whole: JSON.stringify({ ...body, ...empty }),
    lists: lists.map(([name, items]) => [name, items.map((item) => JSON.stringify(item))]),
  }
}

/** Reassembles a body. `rest` is called between pieces, so that other requests can run. */
async function assembled(
  { whole, lists }: BodyPieces,
  rest: () => Promise<void>,
): Promise<unknown> {
  const body = readJson(Buffer.from(whole)) as Members
  for (const [name, texts] of lists) {
    const items: unknown[] = []
    for (const text of texts) {
      items.push((readJson(Buffer.from(`[${text}]`)) as unknown[])[0])
      await rest()
    }
    body[name] = items
  }
  return body
}
