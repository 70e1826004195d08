import type { Endpoint } from '@remit/contract'
import { Failure } from '../base/errors.ts'
import type { Authenticator } from '../keys/authenticator.ts'
import type { Caller } from '../caller/caller.ts'
import type { FailedKeys } from './failed-keys.ts'
import { admit } from './gates.ts'
import type { RateLimit } from './rate-limit.ts'

interface AdmissionDeps {
  readonly authenticator: Authenticator
  readonly rateLimit: RateLimit | null
  /** Null where wrong keys are not limited. */
  readonly failedKeys: FailedKeys | null
}

const NO_LIMITS = {}

/**
 * Lets one request in. Where the writer checks the caller again, the key may come from memory; so
 * nobody is refused on the word of memory alone: the key, the plan or the role may have changed.
 */
export class Admission {
  readonly #endpoint: Endpoint
  readonly #header: string | undefined
  readonly #address: () => string | undefined
  readonly #deps: AdmissionDeps

  #principalId: string | null = null
  /** The `RateLimit` headers of the answer. */
  limits: Readonly<Record<string, string>> = NO_LIMITS

  /** `header`: the request's `Authorization`; `address`: of the client, where it is known. */
  constructor(
    endpoint: Endpoint,
    header: string | undefined,
    address: () => string | undefined,
    deps: AdmissionDeps,
  ) {
    this.#endpoint = endpoint
    this.#header = header
    this.#address = address
    this.#deps = deps
  }

  /** The caller; throws the first refusal in the documented order. */
  async first(): Promise<Caller> {
    const { authenticator, rateLimit } = this.#deps
    const recalled = this.#endpoint.viaWriter ? authenticator.recall(this.#header) : null
    const caller = recalled ?? (await this.#authenticate())
    this.#principalId = caller.principal.id
    if (rateLimit) this.limits = await rateLimit.take(caller.principal.id)
    try {
      admit(this.#endpoint, caller)
      return caller
    } catch (refusal) {
      if (!recalled) throw refusal
      return await this.#again()
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

  /** Counts `more` requests than the one that was let in; throws `rate_limited`. */
  async charge(more: number): Promise<void> {
    const { rateLimit } = this.#deps
    if (rateLimit && this.#principalId !== null && more > 0)
      this.limits = await rateLimit.charge(this.#principalId, more)
  }

  /** Throws what the caller would be refused with if he came now. */
  async recheck(): Promise<void> {
    await this.#again()
  }

  /** Looks the key up; a wrong one counts against its address. A good key is never limited by that. */
  async #authenticate(): Promise<Caller> {
    try {
      return await this.#deps.authenticator.authenticate(this.#header)
    } catch (error) {
      // A database that does not answer says nothing about the key.
      const isWrong =
        error instanceof Failure && error.code === 'unauthorized' && this.#header !== undefined
      const address = isWrong ? this.#address() : undefined
      if (address !== undefined) await this.#deps.failedKeys?.take(address)
      throw error
    }
  }

  /** The caller as the database has him now. */
  async #again(): Promise<Caller> {
    const caller = await this.#deps.authenticator.authenticate(this.#header)
    admit(this.#endpoint, caller)
    return caller
  }
}
