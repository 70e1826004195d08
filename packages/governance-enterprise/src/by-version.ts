import type { Scope } from '@remit/core'

const MAX_ORGANIZATIONS = 1_000

/**
 * What was loaded of an organization at one version of its configuration. It needs no time limit:
 * whoever holds the ledger's lock knows the version.
 */
export class ByVersion<T> {
  readonly #byOrg = new Map<string, { readonly version: number; readonly value: T }>()

  async at({ orgId, configVersion: version }: Scope, load: () => Promise<T>): Promise<T> {
    const known = this.#byOrg.get(orgId)
    if (known?.version === version) return known.value
    const value = await load()
    this.#byOrg.delete(orgId)
    this.#byOrg.set(orgId, { version, value })
    for (const oldest of this.#byOrg.keys()) {
      if (this.#byOrg.size <= MAX_ORGANIZATIONS) break
      this.#byOrg.delete(oldest)
    }
    return value
  }
}
