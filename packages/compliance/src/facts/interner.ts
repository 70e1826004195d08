const MOST = 50_000

/**
 * Shares one copy of repeated texts. A substring of a payload would keep the whole payload in
 * memory, and would be hashed again at each lookup.
 */
export class Interner {
  readonly #known = new Map<string, string>()

  of(text: string): string {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const copy = Buffer.from(text).toString()
    if (this.#known.size < MOST) this.#known.set(copy, copy)
    return copy
  }
}
