import { timingSafeEqual } from 'node:crypto'
import type { Plan } from '@remit/contract'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../errors.ts'
import type { Caller } from '../http/caller.ts'
import { hashKey, parseKey } from './key-text.ts'
import { findHolders } from './store.ts'
import type { KeyHolder } from './store.ts'

const BEARER = /^Bearer +([!-~]+)$/i
const MAX_CACHED = 10_000
const NO_HASH = Buffer.alloc(64, '0')

/**
 * Turns Bearer keys into callers. A caller may come from memory only on its way to the
 * organization's writer, which calls `recheck` inside the transaction when the configuration moved.
 */
export class Authenticator {
  readonly #db: Database<CoreTables>
  readonly #ceiling: Plan
  /** Callers by the hash of their key, the most recently used last. */
  readonly #cache = new Map<string, Caller>()

  /** `ceiling`: the licence's plan; no caller has more. */
  constructor(db: Database<CoreTables>, ceiling: Plan) {
    this.#db = db
    this.#ceiling = ceiling
  }

  /** The caller of an `Authorization` header; throws `unauthorized` for every other one, without a cause. */
  async authenticate(header: string | undefined, fromMemory: boolean): Promise<Caller> {
    const text = BEARER.exec(header ?? '')?.[1] ?? ''
    // What is known has been parsed before, so its hash is all that is needed.
    const known = fromMemory ? this.#cache.get(hashKey(text)) : undefined
    if (known) return known
    const key = parseKey(text)
    if (key === null) throw refusal()
    const [holder] = await findHolders(this.#db, [key.id])
    // Compared also when there is no such key, so that the time tells nothing.
    const same = timingSafeEqual(Buffer.from(key.hash), holder ? Buffer.from(holder.hash) : NO_HASH)
    if (!holder || !same) {
      this.#cache.delete(key.hash)
      throw refusal()
    }
    return this.#remember(holder)
  }

  /**
   * The same callers as the database has them now, inside a transaction; null where the key is gone.
   * Callers that were checked at `configVersion` are returned as they are.
   */
  async recheck(
    tx: Database<CoreTables>,
    callers: readonly Caller[],
    configVersion: number,
  ): Promise<Map<string, Caller | null>> {
    const checked = new Map<string, Caller | null>()
    const stale = new Set<string>()
    for (const caller of callers) {
      if (caller.configVersion === configVersion) checked.set(caller.principal.id, caller)
      else stale.add(caller.principal.id)
    }
    if (stale.size === 0) return checked
    for (const id of stale) checked.set(id, null)
    for (const holder of await findHolders(tx, [...stale]))
      checked.set(holder.id, this.#remember(holder))
    return checked
  }

  #remember(holder: KeyHolder): Caller {
    const caller: Caller = {
      orgId: holder.orgId,
      plan: lowerPlan(this.#ceiling, holder.plan),
      principal: { type: 'key', id: holder.id, role: holder.role, person: holder.person },
      configVersion: holder.configVersion,
    }
    this.#cache.delete(holder.hash)
    this.#cache.set(holder.hash, caller)
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size <= MAX_CACHED) break
      this.#cache.delete(oldest)
    }
    return caller
  }
}

const refusal = () =>
  fail('unauthorized', 'Send Authorization: Bearer <key> with a valid key', {
    headers: { 'WWW-Authenticate': 'Bearer realm="remit"' },
  })

const RANK: Readonly<Record<Plan, number>> = { free: 0, team: 1, enterprise: 2 }

const lowerPlan = (a: Plan, b: Plan): Plan => (RANK[a] <= RANK[b] ? a : b)

/** Whether a plan reaches an endpoint's tier. */
export const reaches = (plan: Plan, tier: 'open' | 'team' | 'enterprise'): boolean =>
  tier === 'open' || RANK[plan] >= RANK[tier]
