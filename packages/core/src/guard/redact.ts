/** A span to remove from a text, with its replacement. */
export interface Cut {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** Returns the text with all cuts applied. Of overlapping cuts, the first has precedence. */
export function cutOut(text: string, cuts: readonly Cut[]): string {
  const sorted = cuts.toSorted((a, b) => a.start - b.start || b.end - a.end)
  let result = ''
  let done = 0
  for (const { start, end, replacement } of sorted) {
    if (end <= done) continue
    if (start >= done) result += text.slice(done, start) + replacement
    done = end
  }
  return result + text.slice(done)
}
