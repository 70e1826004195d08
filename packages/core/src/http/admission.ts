import type { Endpoint } from '@remit/contract'
import { Failure, fail } from '../base/errors.ts'
import type { Authenticator } from '../keys/authenticator.ts'
import type { Caller } from '../caller/caller.ts'
import type { FailedKeys } from './failed-keys.ts'
import { admit } from './gates.ts'
import { basicRefusal } from './presented.ts'
import type { Presented } from './presented.ts'
import type { RateLimit } from './rate-limit.ts'
import type { Sessions } from '../sessions/sessions.ts'

export interface AdmissionDeps {
  readonly authenticator: Authenticator
  readonly sessions: Sessions
  /** Null where requests are not limited. */
  readonly rateLimit: RateLimit | null
  /** Null if invalid keys are not limited. */
  readonly failedKeys: FailedKeys | null
}

const NO_LIMITS = {}

/**
 * Admits one request. If the writer checks the caller again, the caller may come from the cache.
 * The cache alone never causes a refusal, because the key, the plan or the role may have changed.
 */
export class Admission {
  readonly #endpoint: Endpoint
  readonly #presented: Presented
  readonly #address: () => string | undefined
  readonly #deps: AdmissionDeps

  #caller: Caller | null = null
  #isRecalled = false
  /** The `RateLimit` headers of the answer. */
  limits: Readonly<Record<string, string>> = NO_LIMITS

  /** `address`: of the client, where it is known. */
  constructor(
    endpoint: Endpoint,
    presented: Presented,
    address: () => string | undefined,
    deps: AdmissionDeps,
  ) {
    this.#endpoint = endpoint
    this.#presented = presented
    this.#address = address
    this.#deps = deps
  }

  /** The caller; only after `authenticate`. */
  get caller(): Caller {
    if (!this.#caller) throw new Error('the request has not been authenticated')
    return this.#caller
  }

  /** Finds the caller, in memory where the writer checks it again; throws `unauthorized`. */
  async authenticate(): Promise<void> {
    const { authenticator } = this.#deps
    const { header } = this.#presented
    const mayRecall = this.#endpoint.viaWriter && header !== undefined
    const recalled = mayRecall ? authenticator.recall(header) : null
    this.#isRecalled = recalled !== null
    this.#caller = recalled ?? (await this.#lookUp())
  }

  /** Counts the request; throws `rate_limited`. */
  async take(): Promise<void> {
    const { rateLimit } = this.#deps
    if (rateLimit) this.limits = await rateLimit.take(this.caller.principal.id)
  }

  /**
   * Throws the refusal of a caller whose plan or role does not reach the endpoint. Returns a promise
   * only where the database must confirm what memory says.
   */
  admit(): Promise<void> | undefined {
    try {
      admit(this.#endpoint, this.caller)
      return undefined
    } catch (refusal) {
      if (!this.#isRecalled) throw refusal
      return this.recheck()
    }
  }

  /**
   * Returns true if the request may run once more, because the writer found that the rights of the
   * caller had changed. Throws the refusal if they no longer suffice.
   */
  async mayRunAgain(error: unknown): Promise<boolean> {
    const changed = error instanceof Failure && error.code === 'unauthorized'
    if (!changed || !this.#endpoint.viaWriter) return false
    await this.recheck()
    return true
  }

  /** Throws the refusal of a caller from memory that has ended: it must not learn another one. */
  async confirm(): Promise<void> {
    if (this.#isRecalled) await this.recheck()
  }

  /** Charges `more` additional requests; throws `rate_limited`. */
  async charge(more: number): Promise<void> {
    const { rateLimit } = this.#deps
    if (rateLimit && more > 0) this.limits = await rateLimit.charge(this.caller.principal.id, more)
  }

  /** Finds the caller as the database has it now; throws the refusal. */
  async recheck(): Promise<void> {
    const caller = await this.#fromDatabase()
    admit(this.#endpoint, caller)
    this.#caller = caller
  }

  /** Looks the key up; a wrong one counts against its address. A good key is never limited by that. */
  async #lookUp(): Promise<Caller> {
    try {
      return await this.#fromDatabase()
    } catch (error) {
      // A failure of the database says nothing about the key.
      const isWrong =
        error instanceof Failure &&
        error.code === 'unauthorized' &&
        this.#presented.header !== undefined
      const address = isWrong ? this.#address() : undefined
      if (address !== undefined) await this.#deps.failedKeys?.take(address)
      throw error
    }
  }

  async #fromDatabase(): Promise<Caller> {
    const { header, session, isBasic } = this.#presented
    if (session !== undefined) return this.#fromSession(session)
    try {
      return await this.#deps.authenticator.authenticate(header)
    } catch (error) {
      throw isBasic ? basicRefusal(error) : error
    }
  }

  /** A second look is no request of the person, so that it does not prolong the session. */
  async #fromSession(cookie: string): Promise<Caller> {
    const { sessions } = this.#deps
    const caller = this.#caller
      ? await sessions.find(this.#caller)
      : await sessions.authenticate(cookie)
    if (caller) return caller
    throw fail('unauthorized', 'The session has ended; sign in again', {
      headers: { 'WWW-Authenticate': 'Bearer realm="remit"' },
    })
  }
}
