import { setImmediate } from 'node:timers/promises'
import { endpoints } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import type { Context } from 'hono'
import { fail } from '../base/errors.ts'
import type { Route } from './implement.ts'
import { sliced } from '../computing/slices.ts'
import { Refusal } from '../threads/job.ts'
import type { Computer } from '../threads/pool.ts'
import { Turns } from '../threads/turns.ts'
import { assembled, bodyJob, bodyRefusal } from './body-job.ts'
import { checkBody, parseBody } from './check-body.ts'
import { checkShape } from '../base/check-shape.ts'
import { parseForm } from './form.ts'
import { headerOf } from './header.ts'
import { isForm, MAX_BODY_BYTES, readBytes, requireType } from './read-body.ts'
import type { RequestTurns } from './request-turns.ts'

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
