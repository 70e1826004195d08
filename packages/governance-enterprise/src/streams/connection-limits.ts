import { fail } from '@remit/core/base'
import type { Caller } from '@remit/core/caller'

const MAX = { key: 100, organization: 500, total: 2_000 }

/**
 * Limits waiting requests and open streams: per key, per organization, so that one organization
 * cannot take the places of the others, and in total.
 */
export class ConnectionLimits {
  readonly #max: typeof MAX
  readonly #taken = new Map<string, number>()

  constructor(max: Partial<typeof MAX> = {}) {
    this.#max = { ...MAX, ...max }
  }

  /** Takes a place for the caller and returns a function that releases it. Throws 429 or 503. */
  take({ orgId, principal }: Pick<Caller, 'orgId' | 'principal'>): () => void {
    const headers = { 'Retry-After': '1' }
    const refuse = (who: string, most: number) =>
      fail('rate_limited', `${who} can have at most ${most} waiting requests`, { headers })
    const { key, organization, total } = this.#max
    if (this.#count(principal.id) >= key) throw refuse('A key', key)
    if (this.#count(orgId) >= organization) throw refuse('An organization', organization)
    if (this.#count('') >= total) throw fail('overloaded', undefined, { headers })
    const places = [principal.id, orgId, '']
    for (const place of places) this.#taken.set(place, this.#count(place) + 1)
    return () => {
      for (const place of places.splice(0)) {
        const left = this.#count(place) - 1
        if (left === 0) this.#taken.delete(place)
        else this.#taken.set(place, left)
      }
    }
  }

  #count(place: string): number {
    return this.#taken.get(place) ?? 0
  }
}
