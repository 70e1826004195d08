/**
 * Limits the running attempts of this process. An organization can run `each` at a time, or an eighth
 * of the free ones if that is less, but always one: a few organizations with slow receivers cannot
 * take all attempts, however many messages they have.
 */
export class AttemptLimits {
  readonly #total: number
  readonly #each: number
  readonly #byOrg = new Map<string, number>()
  #running = 0

  constructor(limits: { readonly total: number; readonly each: number }) {
    this.#total = limits.total
    this.#each = limits.each
  }

  get isFull(): boolean {
    return this.#running >= this.#total
  }

  /** Organizations at their limit. */
  full(): string[] {
    const limit = this.#limitAt(this.#running)
    return [...this.#byOrg].flatMap(([orgId, count]) => (count >= limit ? [orgId] : []))
  }

  /** Selects from `waiting`, in order, those that can start within the limits. */
  choose<T extends { readonly org_id: string }>(waiting: readonly T[]): T[] {
    const counts = new Map(this.#byOrg)
    const chosen: T[] = []
    for (const one of waiting) {
      const running = this.#running + chosen.length
      if (running >= this.#total) break
      const count = counts.get(one.org_id) ?? 0
      if (count >= this.#limitAt(running)) continue
      counts.set(one.org_id, count + 1)
      chosen.push(one)
    }
    return chosen
  }

  begin(orgId: string): void {
    this.#running++
    this.#byOrg.set(orgId, (this.#byOrg.get(orgId) ?? 0) + 1)
  }

  end(orgId: string): void {
    this.#running--
    const left = (this.#byOrg.get(orgId) ?? 1) - 1
    if (left > 0) this.#byOrg.set(orgId, left)
    else this.#byOrg.delete(orgId)
  }

  #limitAt(running: number): number {
    return Math.max(1, Math.min(this.#each, Math.ceil((this.#total - running) / 8)))
  }
}
