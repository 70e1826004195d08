/** Whether a text matches a pattern, in which `*` is any run of characters and all else is literal. */
export function matchesPattern(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return pattern === text
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop() ?? ''
  if (!text.startsWith(head)) return false
  let at = head.length
  for (const piece of rest) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return text.length - tail.length >= at && text.endsWith(tail)
}

/** Whether a pattern is nothing but `*`. */
export const matchesAll = (pattern: string): boolean => /^\*+$/.test(pattern)
