const MOST = 50_000

/**
 * One copy of texts that come again and again. What is cut out of a payload keeps all of the payload
 * in memory, and is hashed anew each time it is looked up.
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
