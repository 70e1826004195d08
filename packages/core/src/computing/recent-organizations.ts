/** Milliseconds for which an organization is remembered. */
const RECENT_MS = 1_000

/** Organizations for which something happened within the last second. */
export class RecentOrganizations {
  /** `performance.now()` of the last event, oldest first. */
  readonly #times = new Map<string, number>()

  get size(): number {
    this.#forget()
    return this.#times.size
  }

  has(orgId: string): boolean {
    this.#forget()
    return this.#times.has(orgId)
  }

  add(orgId: string): void {
    this.#times.delete(orgId)
    this.#times.set(orgId, performance.now())
    this.#forget()
  }

  #forget(): void {
    const now = performance.now()
    for (const [id, at] of this.#times) {
      if (now - at <= RECENT_MS) break
      this.#times.delete(id)
    }
  }
}
