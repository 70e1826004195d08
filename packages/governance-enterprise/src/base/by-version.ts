import { MAX_CACHED_ORGS } from '@remit/core/base'
import type { LedgerScope } from '@remit/core/ledger/lanes'
import { LRUCache } from 'lru-cache'

/**
 * Data of an organization, loaded at one config version. It never expires: the holder of the
 * ledger's lock knows the version.
 */
export class ByVersion<T> {
  readonly #byOrg = new LRUCache<string, { readonly version: number; readonly value: T }>({
    max: MAX_CACHED_ORGS,
  })

  async at({ orgId, configVersion: version }: LedgerScope, load: () => Promise<T>): Promise<T> {
    const known = this.#byOrg.get(orgId)
    if (known?.version === version) return known.value
    const value = await load()
    this.#byOrg.set(orgId, { version, value })
    return value
  }
}
