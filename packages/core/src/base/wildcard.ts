/**
 * Whether `text` matches `pattern`, in which `*` is any run of characters, also an empty one, and all
 * else is literal and case-sensitive. Linear in the text for each `*`, never exponential.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  if (pattern === '*' || pattern === text) return true
  const star = pattern.indexOf('*')
  if (star === -1) return false
  if (star === pattern.length - 1) return text.startsWith(pattern.slice(0, star))
  return matchesRuns(pattern, text)
}

/** Two pointers: a mismatch goes back to the last `*` and lets it take one character more. */
function matchesRuns(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let taken = 0
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++
      taken = t
    } else if (p < pattern.length && pattern[p] === text[t]) {
      p++
      t++
    } else if (star === -1) return false
    else {
      p = star + 1
      t = ++taken
    }
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/**
 * Whether `wider` matches everything that `narrower` can match. A `*` of the narrower pattern can only
 * be taken by a `*` of the wider one, so the narrower pattern is matched as if it were a text.
 */
export const covers = (wider: string, narrower: string): boolean => matchesRuns(wider, narrower)

/** Whether a pattern is nothing but `*`: it matches also what is not there. */
export const matchesAll = (pattern: string): boolean =>
  pattern === '*' || (pattern !== '' && !/[^*]/.test(pattern))
