import type { Detection } from './detection.ts'
import { riskOf } from './detection.ts'
import { partsOf } from './parts.ts'
import type { TextPart } from './parts.ts'
import type { View } from './view.ts'

/** A part of the original with the risk of what was found in it. */
export interface ScoredPart extends TextPart {
  readonly score: number
}

/**
 * The parts of a text, one after the other without a gap. A finding across a border counts for both
 * parts.
 */
export function scoredParts(
  text: string,
  normalized: View,
  detections: readonly Detection[],
): ScoredPart[] {
  const starts = partsOf(normalized.text).map(({ start }) => normalized.starts[start] ?? 0)
  // Invisible characters before the first unit belong to the first part.
  starts[0] = 0
  const parts = starts.map((start, i) => ({
    start,
    end: starts[i + 1] ?? text.length,
    found: [] as Detection[],
  }))
  for (const detection of detections) {
    const first = partAt(parts, detection.start)
    parts[first]?.found.push(detection)
    for (let i = first + 1; (parts[i]?.start ?? Infinity) < detection.end; i++)
      parts[i]?.found.push(detection)
  }
  return parts.map(({ start, end, found }) => ({ start, end, score: riskOf(found) }))
}

/** The index of the part that a place of the original is in. */
export function partAt(parts: readonly TextPart[], place: number): number {
  let low = 0
  let high = parts.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((parts[middle]?.start ?? 0) <= place) low = middle
    else high = middle
  }
  return low
}
