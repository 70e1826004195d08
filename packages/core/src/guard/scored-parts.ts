import { riskOf } from './detection.ts'
import type { Detection } from './detection.ts'
import type { View } from './view.ts'

/** A part of a text: [start, end) in UTF-16 units. */
interface TextPart {
  readonly start: number
  readonly end: number
}

/** About a page: what is judged as one, in training too. */
const LENGTH = 2_500
/** A text of up to this length is one part. */
const WHOLE = 3_000
/** A part ends with a line or a sentence, unless that would make it shorter than this. */
const SHORTEST = 1_000

/** The parts that a text is judged in, one after the other; they leave nothing out. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = []
  let start = 0
  while (text.length - start > WHOLE) {
    const end = start + cutIn(text.slice(start, start + LENGTH))
    parts.push({ start, end })
    start = end
  }
  if (start < text.length || start === 0) parts.push({ start, end: text.length })
  return parts
}

/** After the last line, sentence or word, whichever comes first in this list. */
function cutIn(text: string): number {
  for (const separator of ['\n', '. ', ' ']) {
    const at = text.lastIndexOf(separator)
    if (at >= SHORTEST) return at + separator.length
  }
  // Not between the halves of a character.
  const unit = text.charCodeAt(text.length - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? text.length - 1 : text.length
}

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
