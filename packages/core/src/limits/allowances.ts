import { OrganizationSettings } from '@remit/contract'
import { LRUCache } from 'lru-cache'
import { MAX_CACHED_ORGS, upTo } from '../base/limits.ts'
import { on } from '../db/portable.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { CoreTables } from '../db/schema.ts'
import { organizationDeleted } from './deleted.ts'
import { limitsOf } from './limits.ts'

/** Suspension and limits of an organization, for the writer and the decision path. */
export interface Allowance {
  readonly isSuspended: boolean
  readonly perSecond: number | null
  readonly perMonth: number | null
  readonly atMonthlyLimit: OrganizationSettings['at_monthly_limit']
}

/**
 * The allowances of organizations. They need no time limit: a change of limits, settings or the
 * suspension moves `config_version`.
 */
export class Allowances {
  readonly #known = new LRUCache<string, { version: number; allowance: Allowance }>(
    upTo(MAX_CACHED_ORGS),
  )

  /**
   * Reads inside a transaction at a version of the configuration, or remembers. Throws `unauthorized`
   * for an organization whose last entry is written.
   */
  async at(tx: AnyDatabase, orgId: string, version: number): Promise<Allowance> {
    const known = this.#known.get(orgId)
    if (known?.version === version) return known.allowance
    const row = await on<CoreTables>(tx)
      .selectFrom('organization')
      .select(['limits', 'settings', 'suspended_at', 'deleted_at'])
      .where('id', '=', orgId)
      .executeTakeFirstOrThrow()
    if (row.deleted_at !== null) throw organizationDeleted()
    const { decisions_per_second, decisions_per_month } = limitsOf(row)
    const allowance = {
      isSuspended: row.suspended_at !== null,
      perSecond: decisions_per_second ?? null,
      perMonth: decisions_per_month ?? null,
      atMonthlyLimit: OrganizationSettings.parse(JSON.parse(row.settings)).at_monthly_limit,
    }
    this.#known.set(orgId, { version, allowance })
    return allowance
  }

  /** Returns the allowance that this process read last; null if none. */
  last(orgId: string): Allowance | null {
    return this.#known.get(orgId)?.allowance ?? null
  }
}
