import type { Head } from './weights.ts'

/** Raw scores of the parts of a document by one head, in ascending order. */
export type Level = readonly number[]

/** Length and levels that the parts of a document are measured against. */
export interface Standing {
  /** UTF-16 units. */
  readonly length: number
  readonly levels: Readonly<Record<Head, Level>>
}

/** Up to this length, in UTF-16 units, length costs nothing. */
const FREE_LENGTH = 2_000
const COST_OF_LENGTH = 0.25
/** Cost per unit by which the median of the other parts exceeds that of ordinary documents. */
const CONTRAST = 0.9
const ORDINARY: Readonly<Record<Head, number>> = { direct: -3.3, embedded: -0.4 }
/** Limits of the contrast: an attacker chooses the padding. */
const MOST = 1
const LEAST = -0.6

/** Largest amount that a document can add to a score. */
export const MOST_GIVEN = -LEAST

/**
 * Returns the amount to subtract from the score of a part. The highest of many scores is high by chance,
 * so length costs. A text about prompts is raised throughout; an injection stands out from the text
 * that it was put into, so the median of the other parts counts, too. `raw` is the part's own score,
 * absent for what is decoded from somewhere in the document.
 */
export function costOf({ length, levels }: Standing, head: Head, raw?: number): number {
  const ofLength = COST_OF_LENGTH * Math.max(0, Math.log(length / FREE_LENGTH))
  const others = medianWithout(levels[head], raw)
  if (others === null) return ofLength
  return ofLength + Math.max(LEAST, Math.min(MOST, CONTRAST * (others - ORDINARY[head])))
}

/** The lower median of all but one of them; null if there are no others. */
function medianWithout(sorted: Level, left?: number): number | null {
  const count = left === undefined ? sorted.length : sorted.length - 1
  const middle = (count - 1) >> 1
  const at = left !== undefined && left <= (sorted[middle] ?? 0) ? middle + 1 : middle
  return count > 0 ? (sorted[at] ?? null) : null
}
