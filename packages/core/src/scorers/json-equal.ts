type Fields = Readonly<Record<string, unknown>>

// Far above the nesting of real data, far below the stack limit.
const MAX_CALLS_DEEP = 500

/**
 * Compares JSON values deeply: key order is ignored, `1` is not `true` or `"1"`. Only own names are
 * read, so `{}` has no `constructor`. Values may be nested deeper than the call stack.
 */
export function jsonEqual(left: unknown, right: unknown): boolean {
  const deeper: [unknown, unknown][] = []
  if (!equalFrom(left, right, 0, deeper)) return false
  for (let pair = deeper.pop(); pair; pair = deeper.pop()) {
    if (!equalFrom(pair[0], pair[1], 0, deeper)) return false
  }
  return true
}

/** Compares down to a depth; deeper values are added to `deeper`. */
function equalFrom(a: unknown, b: unknown, depth: number, deeper: [unknown, unknown][]): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (depth === MAX_CALLS_DEEP) {
    deeper.push([a, b])
    return true
  }
  if (Array.isArray(a)) return Array.isArray(b) && equalItems(a, b, depth + 1, deeper)
  return !Array.isArray(b) && equalFields(a as Fields, b as Fields, depth + 1, deeper)
}

function equalItems(
  a: readonly unknown[],
  b: readonly unknown[],
  depth: number,
  deeper: [unknown, unknown][],
): boolean {
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at++) if (!equalFrom(a[at], b[at], depth, deeper)) return false
  return true
}

function equalFields(a: Fields, b: Fields, depth: number, deeper: [unknown, unknown][]): boolean {
  const names = Object.keys(a)
  const others = Object.keys(b)
  if (names.length !== others.length) return false
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? ''
    // Usually both have the same order, so no lookup is needed.
    if (others[at] !== name && !Object.hasOwn(b, name)) return false
    if (!equalFrom(a[name], b[name], depth, deeper)) return false
  }
  return true
}
