/**
 * Returns true if `text` matches `pattern`, in which `*` is any run of characters, including an
 * empty one. Everything else is literal and case-sensitive. Linear in the text for each `*`, never
 * exponential.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  if (pattern === '*' || pattern === text) return true
  const star = pattern.indexOf('*')
  if (star === -1) return false
  if (star === pattern.length - 1) return text.startsWith(pattern.slice(0, star))
  return matchesRuns(pattern, text)
}

/** Two pointers: on a mismatch, the last `*` takes one more character. */
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
 * Returns true if `wider` matches every text that `narrower` matches. Only a `*` of the wider
 * pattern can match a `*` of the narrower one, so the narrower pattern is matched like a text.
 */
export const covers = (wider: string, narrower: string): boolean => matchesRuns(wider, narrower)

/** Returns true if a pattern consists only of `*`: it also matches a missing value. */
export const matchesAll = (pattern: string): boolean =>
  pattern === '*' || (pattern !== '' && !/[^*]/.test(pattern))
