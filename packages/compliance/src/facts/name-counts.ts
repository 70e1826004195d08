const KEPT = 25

/** Counts by name, for many names. */
export class NameCounts {
  readonly #counts = new Map<string, number>()
  total = 0

  add(name: string): void {
    this.total += 1
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  get size(): number {
    return this.#counts.size
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  /** All counts, by name. */
  get all(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** The 25 largest counts, in descending order; ties by name. */
  get largest(): { readonly id: string; readonly count: number }[] {
    return [...this.#counts]
      .map(([id, count]) => ({ id, count }))
      .toSorted((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1))
      .slice(0, KEPT)
  }
}
