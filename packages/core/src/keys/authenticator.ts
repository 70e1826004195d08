import { timingSafeEqual } from 'node:crypto'
import type { Plan } from '@remit/contract'
import { systemClock } from '../base/clock.ts'
import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import type { Caller, Principal } from '../caller/caller.ts'
import type { CredentialHolder, Credentials } from './credentials.ts'
import { hashKey, isKeyText, parseKey } from './key-text.ts'
import { findHolder, findHolders } from './store.ts'
import type { KeyHolder } from './store.ts'

const BEARER = /^Bearer +([!-~]+)$/i
const MAX_CACHED = 10_000
const NO_HASH = Buffer.alloc(64, '0')

/**
 * Turns what stands after `Bearer` into callers: ingest keys and, where a module brings them, agent
 * credentials. A caller may be recalled only on its way to the organization's writer, which calls
 * `recheck` inside the transaction.
 */
export class Authenticator {
  readonly #db: Database<CoreTables>
  readonly #ceiling: Plan
  readonly #clock: Clock
  #credentials: Credentials | null = null
  /** Callers by the hash of their text, the most recently looked up last. */
  readonly #cache = new Map<string, Caller>()
  /** Under which hash a credential's caller is remembered: its row may hold another one. */
  readonly #hashes = new WeakMap<Caller, string>()

  /** `ceiling`: the licence's plan; no caller has more. */
  constructor(db: Database<CoreTables>, ceiling: Plan, clock: Clock = systemClock) {
    this.#db = db
    this.#ceiling = ceiling
    this.#clock = clock
  }

  /** Who knows agent credentials; once, at boot. */
  use(credentials: Credentials | undefined): void {
    this.#credentials = credentials ?? null
  }

  /** The caller of an `Authorization` header as he was last seen; null where nobody is remembered. */
  recall(header: string | undefined): Caller | null {
    // What is known has been parsed before, so its hash is all that is needed.
    const known = this.#cache.get(hashKey(bearerOf(header)))
    return known && this.#isGood(known.principal) ? known : null
  }

  /** The caller of an `Authorization` header; throws `unauthorized` for every other one, without a cause. */
  async authenticate(header: string | undefined): Promise<Caller> {
    const text = bearerOf(header)
    const key = parseKey(text)
    if (key === null) return this.#authenticateAgent(text)
    const holder = await findHolder(this.#db, key.id)
    // Compared also when there is no such key, so that the time tells nothing.
    const same = timingSafeEqual(Buffer.from(key.hash), holder ? Buffer.from(holder.hash) : NO_HASH)
    if (!holder || !same) {
      this.#cache.delete(key.hash)
      throw refusal(text)
    }
    return this.#remember(holder)
  }

  async #authenticateAgent(text: string): Promise<Caller> {
    const holder = isKeyText(text) ? await this.#credentials?.authenticate(text) : null
    if (holder) return this.#rememberAgent(holder, hashKey(text))
    this.#cache.delete(hashKey(text))
    throw refusal(text)
  }

  /** Time ends a credential without any change; what is used is told, also from memory. */
  #isGood(principal: Principal): boolean {
    if (principal.type === 'key') return true
    if (this.#clock.now() >= principal.expiresAt) return false
    this.#credentials?.used(principal.id)
    return true
  }

  /**
   * The same callers as the database has them at `now`, inside a transaction; null where the key or
   * credential is gone. Callers that were checked at `configVersion` are returned as they are.
   */
  async recheck(
    tx: Database<CoreTables>,
    callers: readonly Caller[],
    configVersion: number,
    now: number,
  ): Promise<Map<string, Caller | null>> {
    const checked = new Map<string, Caller | null>()
    const stale = new Map<string, Caller>()
    for (const caller of callers) {
      const { principal } = caller
      if (caller.configVersion !== configVersion) stale.set(principal.id, caller)
      else if (principal.type === 'key' || now < principal.expiresAt)
        checked.set(principal.id, caller)
      else checked.set(principal.id, null)
    }
    if (stale.size === 0) return checked
    const keys: string[] = []
    const credentials: string[] = []
    for (const [id, { principal }] of stale) {
      checked.set(id, null)
      if (principal.type === 'key') keys.push(id)
      else credentials.push(id)
    }
    if (keys.length > 0) {
      for (const holder of await findHolders(tx, keys))
        checked.set(holder.id, this.#remember(holder))
    }
    if (credentials.length > 0) {
      for (const holder of (await this.#credentials?.find(tx, credentials, now)) ?? []) {
        const before = stale.get(holder.id)
        const hash = before && this.#hashes.get(before)
        if (hash !== undefined) checked.set(holder.id, this.#rememberAgent(holder, hash))
      }
    }
    return checked
  }

  #remember(holder: KeyHolder): Caller {
    const caller: Caller = {
      orgId: holder.orgId,
      plan: lowerPlan(this.#ceiling, holder.plan),
      principal: { type: 'key', id: holder.id, role: holder.role, person: holder.person },
      configVersion: holder.configVersion,
    }
    return this.#keep(caller, holder.hash)
  }

  #rememberAgent(holder: CredentialHolder, hash: string): Caller {
    const { id, agentId, scopes, expiresAt } = holder
    const caller: Caller = {
      orgId: holder.orgId,
      plan: lowerPlan(this.#ceiling, holder.plan),
      principal: { type: 'credential', id, agentId, scopes, expiresAt, person: null },
      configVersion: holder.configVersion,
    }
    this.#hashes.set(caller, hash)
    return this.#keep(caller, hash)
  }

  #keep(caller: Caller, hash: string): Caller {
    this.#cache.delete(hash)
    this.#cache.set(hash, caller)
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size <= MAX_CACHED) break
      this.#cache.delete(oldest)
    }
    return caller
  }
}

const bearerOf = (header: string | undefined): string => BEARER.exec(header ?? '')?.[1] ?? ''

/** One answer, whatever the cause; RFC 6750 has an error only where a token was sent. */
const refusal = (text: string) =>
  fail('unauthorized', 'Send Authorization: Bearer <key> with a valid key', {
    headers: {
      'WWW-Authenticate': `Bearer realm="remit"${text === '' ? '' : ', error="invalid_token"'}`,
    },
  })

const RANK: Readonly<Record<Plan, number>> = { free: 0, team: 1, enterprise: 2 }

const lowerPlan = (a: Plan, b: Plan): Plan => (RANK[a] <= RANK[b] ? a : b)

/** Whether a plan reaches an endpoint's tier. */
export const reaches = (plan: Plan, tier: 'open' | 'team' | 'enterprise'): boolean =>
  tier === 'open' || RANK[plan] >= RANK[tier]
