import { LRUCache } from 'lru-cache'
/**
 * Memoizes a function of plain data with the `kept` most recently used results. Exceptions are not
 * cached.
 */
export function memoize<Given, Result extends object>(
  kept: number,
  make: (given: Given) => Result,
): (given: Given) => Result {
  const known = new LRUCache<string, Result>({ max: kept })
  return (given) => {
    const name = JSON.stringify(given)
    const found = known.get(name)
    if (found !== undefined) return found
    const made = make(given)
    known.set(name, made)
    return made
  }
}
