import type { Head } from './weights.ts'

/** Raw scores of the parts of a document by one head, in ascending order. */
export type Level = readonly number[]

/** Length and levels that the parts of a document are measured against. */
export interface Standing {
  /** UTF-16 units. */
  readonly length: number
  readonly levels: Readonly<Record<Head, Level>>
}

/** Between these lengths, in UTF-16 units, length costs; an attack in a book must not be free. */
const FREE_LENGTH = 2_000
const COSTLIEST_LENGTH = 5_000
const COST_OF_LENGTH = 0.35
/** The median of ordinary documents: the amount by which that of the other parts exceeds it costs. */
const ORDINARY: Readonly<Record<Head, number>> = { direct: -4.3, embedded: -0.4 }
/** Limits of the contrast: an attacker chooses the padding. */
const MOST = 1.2
const LEAST = -1

/** Largest amount that a document can add to a score. */
export const MOST_GIVEN = -LEAST

/**
 * Returns the amount to subtract from the score of a part. The highest of many scores is high by chance,
 * so length costs. A text about prompts is raised throughout; an injection stands out from the text
 * that it was put into, so the median of the other parts counts, too. `raw` is the part's own score,
 * absent for what is decoded from somewhere in the document.
 */
export function costOf({ length, levels }: Standing, head: Head, raw?: number): number {
  const costly = Math.max(FREE_LENGTH, Math.min(length, COSTLIEST_LENGTH))
  const ofLength = COST_OF_LENGTH * Math.log(costly / FREE_LENGTH)
  const others = medianWithout(levels[head], raw)
  if (others === null) return ofLength
  return ofLength + Math.max(LEAST, Math.min(MOST, others - ORDINARY[head]))
}

/** The lower median of all but one of them; null if there are no others. */
function medianWithout(sorted: Level, left?: number): number | null {
  const count = left === undefined ? sorted.length : sorted.length - 1
  const middle = (count - 1) >> 1
  const at = left !== undefined && left <= (sorted[middle] ?? 0) ? middle + 1 : middle
  return count > 0 ? (sorted[at] ?? null) : null
}
