import { distance } from 'fastest-levenshtein'
import { codePointsOf, countCodePoints, hasSurrogates } from './code-points.ts'

/** The difference of two texts: `distance` insertions, deletions and replacements of characters. */
export interface Edits {
  readonly distance: number
  /** Code points of the longer text. */
  readonly length: number
}

/** Returns the Levenshtein distance of two texts in code points: 🙂 is one character, not two. */
export function editsOf(a: string, b: string): Edits {
  if (a === b) return { distance: 0, length: countCodePoints(a) }
  if (!hasSurrogates(a) && !hasSurrogates(b))
    return { distance: distance(a, b), length: Math.max(a.length, b.length) }
  return {
    distance: sequenceDistance(codePointsOf(a), codePointsOf(b)),
    length: Math.max(countCodePoints(a), countCodePoints(b)),
  }
}

/** 1 for equal texts, 0 for texts without a common position; 1 for two empty texts. */
export const similarity = ({ distance: edits, length }: Edits): number =>
  length === 0 ? 1 : 1 - edits / length

// 0 stands for items that are missing in the first sequence, which equal none of its own.
const ABSENT = 0
const MOST_DISTINCT = 0xffff

/**
 * Returns the Levenshtein distance of two sequences of numbers. The library compares UTF-16 units,
 * so each distinct number gets one; throws for more than 65,535 of them.
 */
export function sequenceDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const units = new Map<number, number>()
  for (let at = 0; at < a.length; at++) {
    const item = a[at] ?? 0
    if (!units.has(item)) units.set(item, units.size + 1)
  }
  if (units.size > MOST_DISTINCT) throw new RangeError('too many distinct items')
  return distance(textOf(a, units), textOf(b, units))
}

const CHUNK = 8_192

function textOf(items: ArrayLike<number>, units: ReadonlyMap<number, number>): string {
  let text = ''
  for (let from = 0; from < items.length; from += CHUNK) {
    const part = new Uint16Array(Math.min(CHUNK, items.length - from))
    for (let at = 0; at < part.length; at++) part[at] = units.get(items[from + at] ?? 0) ?? ABSENT
    text += String.fromCharCode(...part)
  }
  return text
}
