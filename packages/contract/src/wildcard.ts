/**
 * Returns true if `text` matches `pattern`, in which `*` is any run of characters, including an
 * empty one. Everything else is literal and case-sensitive. Searches the text once, never
 * exponential.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  if (pattern === '*' || pattern === text) return true
  const star = pattern.indexOf('*')
  if (star === -1) return false
  if (star === pattern.length - 1) return text.startsWith(pattern.slice(0, star))
  return matchesRuns(pattern, text)
}

/** The ends are fixed, and each run between two `*` takes its first place: a later one fits no better. */
function matchesRuns(pattern: string, text: string): boolean {
  const first = pattern.indexOf('*')
  if (first === -1) return pattern === text
  // Most patterns do not match at all.
  if (first > 0 && pattern[0] !== text[0]) return false
  const last = pattern.lastIndexOf('*')
  const end = text.length - (pattern.length - last - 1)
  if (end < first || !text.startsWith(pattern.slice(0, first))) return false
  if (!text.endsWith(pattern.slice(last + 1))) return false
  let at = first
  for (let from = first + 1; from <= last;) {
    const star = pattern.indexOf('*', from)
    const run = pattern.slice(from, star)
    const found = text.indexOf(run, at)
    if (found === -1 || found + run.length > end) return false
    at = found + run.length
    from = star + 1
  }
  return true
}

/**
 * Returns true if `wider` matches every text that `narrower` matches. Only a `*` of the wider
 * pattern can match a `*` of the narrower one, so the narrower pattern is matched like a text.
 */
export const covers = (wider: string, narrower: string): boolean => matchesRuns(wider, narrower)

/** Returns true if a pattern consists only of `*`: it also matches a missing value. */
export const matchesAll = (pattern: string): boolean =>
  pattern === '*' || (pattern !== '' && !/[^*]/.test(pattern))
