import { LRUCache } from 'lru-cache'
const MAX_KEPT = 10_000
const MAX_KEY_LENGTH = 1_000

/**
 * Shares one copy of values that many rules have in common: with thousands of rules, memory latency
 * dominates a decision. Long values rarely repeat and are not shared, so that callers cannot fill
 * the memory.
 */
export class SharedValues<T extends object | string> {
  readonly #kept = new LRUCache<string, T>({ max: MAX_KEPT })

  get(key: string, make: () => T): T {
    if (key.length > MAX_KEY_LENGTH) return make()
    let value = this.#kept.get(key)
    if (value === undefined) {
      value = make()
      this.#kept.set(key, value)
    }
    return value
  }
}

const texts = new SharedValues<string>()

/** The shared copy of a text. */
export const shared = (text: string): string => texts.get(text, () => text)

const lists = new SharedValues<readonly string[]>()

/** The shared copy of a list. */
export const sharedList = (list: readonly string[]): readonly string[] =>
  lists.get(JSON.stringify(list), () => Object.freeze(list.map(shared)))

const sets = new SharedValues<ReadonlySet<string>>()

/** The shared copy of a set of texts. */
export const sharedSet = (set: ReadonlySet<string>): ReadonlySet<string> =>
  sets.get(JSON.stringify([...set].toSorted()), () => new Set([...set].map(shared)))
