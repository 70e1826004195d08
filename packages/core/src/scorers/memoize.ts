/**
 * Memoizes a function of plain data with the `kept` most recently used results. Exceptions are not
 * cached.
 */
export function memoize<Given, Result>(
  kept: number,
  make: (given: Given) => Result,
): (given: Given) => Result {
  const known = new Map<string, Result>()
  return (given) => {
    const name = JSON.stringify(given)
    const found = known.get(name)
    if (found !== undefined) {
      known.delete(name)
      known.set(name, found)
      return found
    }
    const made = make(given)
    known.set(name, made)
    const [oldest] = known.keys()
    if (known.size > kept && oldest !== undefined) known.delete(oldest)
    return made
  }
}
