import { hash } from 'node:crypto'
import type { Client } from '@remit/contract/client'
import { LRUCache } from 'lru-cache'
import { Busy, Unauthorized, Unavailable } from './caller.ts'
import type { Caller } from './caller.ts'
import { exchanged, isLimit, isRefusal, presented } from './tokens.ts'
import type { Identified } from './tokens.ts'
import { createClient } from '@remit/sdk/node'

export interface CallersOptions {
  /** Address and key of Remit. */
  readonly url: string
  readonly key: string
  /** The agent of calls with an ingest key. */
  readonly agent: string | undefined
  readonly acceptsTokens: boolean
  /** The results of tools are checked, for which callers need the scope `guard`. */
  readonly hasGuard: boolean
}

/** Milliseconds for which a credential is not asked about again; each decision checks it anyway. */
const MAX_AGE_MS = 30_000
const MAX_CALLERS = 10_000
/** Refused credentials in a minute that are told so; further ones are told to wait. */
const MAX_REFUSED = 20
const REMIT_SECRET = /^rm[ckf]_[0-9A-Za-z]{65}$/

/** Finds out who calls, from the header `Authorization`. */
export class Callers {
  readonly #options: CallersOptions
  readonly #client: Client
  readonly #known = new LRUCache<string, Identified>({ max: MAX_CALLERS })
  readonly #asking = new Map<string, Promise<Identified>>()
  #refusals: number[] = []
  #organizationId: string | null = null

  constructor(options: CallersOptions) {
    this.#options = options
    this.#client = createClient({ baseUrl: options.url, key: options.key })
  }

  /** Throws `Unauthorized`, or `Unavailable` and `Busy` where it is not known who calls. */
  async identify(authorization: string | undefined, resource: string): Promise<Caller> {
    const [, secret] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization ?? '') ?? []
    if (authorization === undefined) throw new Unauthorized('A credential is required.')
    if (secret === undefined)
      throw new Unauthorized('Authorization: must be "Bearer" and a credential.', 'invalid_token')
    const id = hash('sha256', `${resource} ${secret}`, 'base64')
    const known = this.#known.get(id)
    if (known && known.until > Date.now()) return known.caller
    const asking = this.#asking.get(id) ?? this.#ask(id, secret, resource)
    return (await asking).caller
  }

  #ask(id: string, secret: string, resource: string): Promise<Identified> {
    const asked = this.#identified(secret, resource).finally(() => this.#asking.delete(id))
    this.#asking.set(id, asked)
    asked.then(
      (identified) => this.#known.set(id, identified),
      () => undefined,
    )
    return asked
  }

  async #identified(secret: string, resource: string): Promise<Identified> {
    const { url, agent, acceptsTokens, hasGuard } = this.#options
    const isOfRemit = REMIT_SECRET.test(secret)
    if (!isOfRemit && !acceptsTokens)
      throw new Unauthorized('The credential is not one of Remit.', 'invalid_token')
    const organizationId = await this.#ownOrganization()
    try {
      return isOfRemit
        ? {
            caller: await presented(url, organizationId, secret, agent, hasGuard),
            until: Date.now() + MAX_AGE_MS,
          }
        : await exchanged(this.#client, secret, resource, hasGuard)
    } catch (error) {
      if (error instanceof Unauthorized) throw error
      if (isLimit(error)) throw new Busy('Remit takes no further credentials for now.')
      if (!isRefusal(error)) throw new Unavailable('Remit cannot be reached.', { cause: error })
      throw this.#refused()
    }
  }

  /** Limits those who guess. Each credential is checked, so that a good one is never limited by them. */
  #refused(): Busy | Unauthorized {
    const now = Date.now()
    this.#refusals = this.#refusals.filter((at) => now - at < 60_000)
    if (this.#refusals.length >= MAX_REFUSED)
      return new Busy('Too many credentials were refused; try again in a minute.')
    this.#refusals.push(now)
    return new Unauthorized('Remit refused the credential.', 'invalid_token')
  }

  /** The organization of the gateway's own key. */
  async #ownOrganization(): Promise<string> {
    if (this.#organizationId !== null) return this.#organizationId
    const session = await this.#client.getSession().catch((cause: unknown) => {
      const isOwnKey = isRefusal(cause)
      throw new Unavailable(
        isOwnKey ? 'Remit refused the key of the gateway.' : 'Remit cannot be reached.',
        { cause },
      )
    })
    this.#organizationId = session.organization?.id ?? null
    if (this.#organizationId === null) throw new Unavailable('The gateway has no organization.')
    return this.#organizationId
  }
}
