import { timingSafeEqual } from 'node:crypto'
import type { Plan } from '@remit/contract'
import { LRUCache } from 'lru-cache'
import { SharedCalls } from '../base/shared-calls.ts'
import { upTo } from '../base/page.ts'
import { systemClock } from '../base/clock.ts'
import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import { sessionOf } from '../caller/caller.ts'
import type { Caller } from '../caller/caller.ts'
import type { CredentialHolder, Credentials } from './credentials.ts'
import { formFault, hashKey, isKeyText, parseKey } from './key-text.ts'
import { findHolder, findHolders } from './store.ts'
import type { KeyHolder } from './store.ts'

const BEARER = /^Bearer +([!-~]+)$/i
const MAX_CACHED = 10_000
const NO_HASH = Buffer.alloc(64, '0')

/** Looks the sessions of people up, each time with a query, so that a session can end at once. */
interface SessionLookup {
  recheck(
    tx: Database<CoreTables>,
    callers: readonly Caller[],
    now: number,
  ): Promise<ReadonlyMap<string, Caller | null>>
}

/**
 * Resolves bearer tokens to callers: ingest keys and, if a module provides them, agent credentials.
 * A caller from the cache may only be used for work of the organization's writer, which calls
 * `recheck` inside the transaction.
 */
export class Authenticator {
  readonly #db: Database<CoreTables>
  readonly #ceiling: Plan
  readonly #clock: Clock
  readonly #sessions: SessionLookup | null
  #credentials: Credentials | null = null
  /** Callers by the hash of their text, least recently looked up first. */
  readonly #cache = new LRUCache<string, Caller>(upTo(MAX_CACHED))
  /** Cache hash of a credential's caller: its row may have another hash. */
  readonly #hashes = new WeakMap<Caller, string>()
  /** Look-ups by the hash of the text: one caller's many requests take one connection. */
  readonly #lookUps = new SharedCalls<Caller>()

  /** `ceiling` is the plan of the license; it caps the plan of every caller. */
  constructor(
    db: Database<CoreTables>,
    ceiling: Plan,
    clock: Clock = systemClock,
    sessions: SessionLookup | null = null,
  ) {
    this.#db = db
    this.#ceiling = ceiling
    this.#clock = clock
    this.#sessions = sessions
  }

  /** Sets the provider of agent credentials. Called once, at boot. */
  use(credentials: Credentials | undefined): void {
    this.#credentials = credentials ?? null
  }

  /** Returns the cached caller of an `Authorization` header, or null; records the use of a credential. */
  recall(header: string | undefined): Caller | null {
    // A cached text was parsed before, so its hash is sufficient.
    const known = this.#cache.get(hashKey(bearerOf(header)))
    if (known?.principal.type !== 'credential') return known ?? null
    const { id, expiresAt } = known.principal
    if (this.#clock.now() >= expiresAt) return null
    this.#credentials?.used({ orgId: known.orgId, id })
    return known
  }

  /**
   * Returns the caller of an `Authorization` header; throws `unauthorized` without a cause for any
   * other one.
   */
  async authenticate(header: string | undefined): Promise<Caller> {
    const text = bearerOf(header)
    const fault = formFault(header)
    if (fault !== null) throw refusal(text, fault)
    return this.#lookUps.run(hashKey(text), () => this.#lookUp(text))
  }

  async #lookUp(text: string): Promise<Caller> {
    const key = parseKey(text)
    if (key === null) return this.#authenticateAgent(text)
    const holder = await findHolder(this.#db, key.id)
    // Compared even if the key does not exist, so that the timing reveals nothing.
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

  /**
   * Returns the same callers of one organization by `callerId`, from the database at `now`, inside a
   * transaction; null if the key, credential or session is no longer valid. Keys and credentials checked
   * at `configVersion` are returned unchanged.
   */
  async recheck(
    tx: Database<CoreTables>,
    callers: readonly Caller[],
    configVersion: number,
    now: number,
  ): Promise<Map<string, Caller | null>> {
    const checked = new Map<string, Caller | null>()
    const stale = new Map<string, Caller>()
    const signedIn: Caller[] = []
    for (const caller of callers) {
      const { principal } = caller
      if (sessionOf(principal) !== undefined) signedIn.push(caller)
      else if (caller.configVersion !== configVersion) stale.set(principal.id, caller)
      else if (principal.type !== 'credential' || now < principal.expiresAt)
        checked.set(principal.id, caller)
      else checked.set(principal.id, null)
    }
    if (signedIn.length > 0 && this.#sessions)
      for (const [session, caller] of await this.#sessions.recheck(tx, signedIn, now))
        checked.set(session, caller)
    const [first] = stale.values()
    if (first === undefined) return checked
    const { orgId } = first
    const keys: string[] = []
    const credentials: string[] = []
    for (const [id, { principal }] of stale) {
      checked.set(id, null)
      if (principal.type === 'credential') credentials.push(id)
      else keys.push(id)
    }
    if (keys.length > 0) {
      for (const holder of await findHolders(tx, orgId, keys))
        checked.set(holder.id, this.#remember(holder))
    }
    if (credentials.length > 0) {
      for (const holder of (await this.#credentials?.find(tx, orgId, credentials, now)) ?? []) {
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
    this.#cache.set(hash, caller)
    return caller
  }
}

const bearerOf = (header: string | undefined): string => BEARER.exec(header ?? '')?.[1] ?? ''

const NO_KEY = 'Send the header Authorization: Bearer <key> with a valid key'

/** One response for every key that could exist; RFC 6750 has an error only if a token was sent. */
const refusal = (text: string, detail = NO_KEY) =>
  fail('unauthorized', detail, {
    headers: {
      'WWW-Authenticate': `Bearer realm="remit"${text === '' ? '' : ', error="invalid_token"'}`,
    },
  })

const RANK: Readonly<Record<Plan, number>> = { free: 0, team: 1, enterprise: 2 }

export const lowerPlan = (a: Plan, b: Plan): Plan => (RANK[a] <= RANK[b] ? a : b)

/** Returns true if a plan includes the tier of an endpoint. */
export const reaches = (plan: Plan, tier: 'open' | 'team' | 'enterprise'): boolean =>
  tier === 'open' || RANK[plan] >= RANK[tier]
