import type { Endpoint } from '@remit/contract'
import { Failure } from '../errors.ts'
import type { Authenticator } from '../keys/authenticator.ts'
import type { Caller } from './caller.ts'
import { admit } from './gates.ts'
import type { RateLimit } from './rate-limit.ts'

interface AdmissionDeps {
  readonly authenticator: Authenticator
  readonly rateLimit: RateLimit | null
}

const NO_LIMITS = {}

/**
 * Lets one request in. Where the writer checks the caller again, the key may come from memory; so
 * nobody is refused on the word of memory alone: the key, the plan or the role may have changed.
 */
export class Admission {
  readonly #endpoint: Endpoint
  readonly #header: string | undefined
  readonly #deps: AdmissionDeps

  /** `header`: the request's `Authorization`. */
  constructor(endpoint: Endpoint, header: string | undefined, deps: AdmissionDeps) {
    this.#endpoint = endpoint
    this.#header = header
    this.#deps = deps
  }

  /** The caller and the `RateLimit` headers; throws the first refusal in the documented order. */
  async first(): Promise<{ caller: Caller; limits: Readonly<Record<string, string>> }> {
    const { authenticator, rateLimit } = this.#deps
    const recalled = this.#endpoint.viaWriter ? authenticator.recall(this.#header) : null
    const caller = recalled ?? (await authenticator.authenticate(this.#header))
    const limits = rateLimit ? await rateLimit.take(caller.principal.id) : NO_LIMITS
    try {
      admit(this.#endpoint, caller)
      return { caller, limits }
    } catch (refusal) {
      if (!recalled) throw refusal
      return { caller: await this.#again(), limits }
    }
  }

  /** Runs work for the caller; once more when the writer finds that his rights have changed. */
  async run<T>(caller: Caller, work: (caller: Caller) => Promise<T>): Promise<T> {
    try {
      return await work(caller)
    } catch (error) {
      const changed = error instanceof Failure && error.code === 'unauthorized'
      if (!changed || !this.#endpoint.viaWriter) throw error
      return work(await this.#again())
    }
  }

  /** Throws what the caller would be refused with if he came now. */
  async recheck(): Promise<void> {
    await this.#again()
  }

  /** The caller as the database has him now. */
  async #again(): Promise<Caller> {
    const caller = await this.#deps.authenticator.authenticate(this.#header)
    admit(this.#endpoint, caller)
    return caller
  }
}
