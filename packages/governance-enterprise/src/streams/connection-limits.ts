import { fail } from '@remit/core'

/** Limits waiting requests and open streams, in total and per key. */
export class ConnectionLimits {
  readonly #perKey: number
  readonly #total: number
  readonly #byKey = new Map<string, number>()
  #taken = 0

  constructor({ perKey = 100, total = 2_000 }: { perKey?: number; total?: number } = {}) {
    this.#perKey = perKey
    this.#total = total
  }

  /** Takes a place of the key and returns a function that releases it. Throws 429 or 503. */
  take(keyId: string): () => void {
    const own = this.#byKey.get(keyId) ?? 0
    const headers = { 'Retry-After': '1' }
    if (own >= this.#perKey)
      throw fail('rate_limited', `A key can have at most ${this.#perKey} waiting requests`, {
        headers,
      })
    if (this.#taken >= this.#total) throw fail('overloaded', undefined, { headers })
    this.#byKey.set(keyId, own + 1)
    this.#taken += 1
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#taken -= 1
      const left = (this.#byKey.get(keyId) ?? 1) - 1
      if (left === 0) this.#byKey.delete(keyId)
      else this.#byKey.set(keyId, left)
    }
  }
}
