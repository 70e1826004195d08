const MAX_KEPT = 10_000
const MAX_KEY_LENGTH = 1_000

/**
 * One copy of what many rules have in common. Among thousands of rules a decision waits for memory
 * more than for anything else, and what is shared is there already. What is long is rarely the same
 * twice and is not kept, so that nobody fills the memory by way of it.
 */
export class Pool<T> {
  readonly #kept = new Map<string, T>()

  get(key: string, make: () => T): T {
    if (key.length > MAX_KEY_LENGTH) return make()
    let value = this.#kept.get(key)
    if (value === undefined) {
      value = make()
      if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
      this.#kept.set(key, value)
    }
    return value
  }
}

const texts = new Pool<string>()

/** The same text, in the one copy of it. */
export const shared = (text: string): string => texts.get(text, () => text)

const lists = new Pool<readonly string[]>()

/** The same list, in the one copy of it. */
export const sharedList = (list: readonly string[]): readonly string[] =>
  lists.get(JSON.stringify(list), () => Object.freeze(list.map(shared)))

const sets = new Pool<ReadonlySet<string>>()

/** A set of the same texts, in the one copy of it. */
export const sharedSet = (set: ReadonlySet<string>): ReadonlySet<string> =>
  sets.get(JSON.stringify([...set].toSorted()), () => new Set([...set].map(shared)))
