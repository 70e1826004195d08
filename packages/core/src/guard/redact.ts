/** Something to take out of a text, and what to put in its place. */
export interface Cut {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** The text with every cut made. Of cuts that overlap, the first names what stood there. */
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
