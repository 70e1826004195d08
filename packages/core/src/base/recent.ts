/** Values by key, of which the `most` that were kept last stay. */
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
    // Anew, so that the order is that of the last keeping.
    this.#values.delete(key)
    this.#values.set(key, value)
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#most) break
      this.#values.delete(oldest)
    }
  }
}
