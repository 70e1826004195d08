/**
 * Deep equality of JSON values: key order does not count, `1` is not `true` or `"1"`. Only own
 * names are read, so `{}` has no `constructor`. Works through a list of pairs instead of calling
 * itself: a text of brackets parses to more levels than the call stack has.
 */
export function jsonEqual(left: unknown, right: unknown): boolean {
  const pairs: [unknown, unknown][] = [[left, right]]
  for (let pair = pairs.pop(); pair; pair = pairs.pop()) {
    const [a, b] = pair
    if (a === b) continue
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    if (Array.isArray(a) !== Array.isArray(b)) return false
    const names = Object.keys(a)
    if (names.length !== Object.keys(b).length) return false
    for (const name of names) {
      if (!Object.hasOwn(b, name)) return false
      pairs.push([(a as Fields)[name], (b as Fields)[name]])
    }
  }
  return true
}

type Fields = Readonly<Record<string, unknown>>
