/**
 * The same function of plain data, with the last `kept` results remembered; the one that was asked
 * for longest ago goes first. What it throws is not remembered.
 */
export function remembering<Given, Result>(
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
