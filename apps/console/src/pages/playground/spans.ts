export interface Span {
  readonly text: string
  /** The categories of the findings that cover it; none for ordinary text. */
  readonly categories: readonly string[]
}

interface Finding {
  readonly start: number
  readonly end: number
  readonly category: string
}

/** A text in pieces, cut wherever a finding begins or ends. Findings may overlap. */
export function spansOf(text: string, findings: readonly Finding[]): Span[] {
  const cuts = findings.flatMap(({ start, end }) => [start, end])
  const edges = [...new Set([0, ...cuts, text.length])]
    .filter((at) => at >= 0 && at <= text.length)
    .toSorted((one, other) => one - other)
  return edges.slice(0, -1).map((start, i) => {
    const end = edges[i + 1] ?? text.length
    const over = findings.filter((finding) => finding.start < end && finding.end > start)
    return {
      text: text.slice(start, end),
      categories: [...new Set(over.map(({ category }) => category))],
    }
  })
}
