/** A cache that keeps the `most` values that were stored last. */
export class Recent<T> {
  readonly #values = new Map<string, T>()
  readonly #most: number

  constructor(most = 1_000) {
    this.#most = most
  }

  get(key: string): T | undefined {
    return this.#values.get(key)
  }

  keep(key: string, value: T): void {
    // Deleted first, so that the order is that of the last write.
    this.#values.delete(key)
    this.#values.set(key, value)
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#most) break
      this.#values.delete(oldest)
    }
  }
}
