import type { ResultToScore } from '@remit/contract'
import { z } from 'zod'
import { textOf } from '../fields.ts'
import { occurrences } from '../find.ts'
import { Unscorable } from '../scorer.ts'
import type { TextParams } from '../text.ts'
import { normalizeText } from '../text.ts'

export const wholeWord = z
  .boolean()
  .default(false)
  .describe('A match must not be next to a letter, mark, digit or underscore')

export const Needles = z.array(z.string()).min(1).max(1000)

/**
 * Returns the texts to look for: the parameter, else `expected`. Throws `Unscorable` if there are
 * none.
 */
export function needlesOf(
  { expected }: ResultToScore,
  given: string | readonly string[] | undefined,
  params: TextParams,
): string[] {
  const wanted: unknown = given ?? expected
  if (wanted === undefined || wanted === null) {
    throw new Unscorable('missing_field', 'expected is missing', 'expected')
  }
  const needles = (Array.isArray(wanted) ? (wanted as unknown[]) : [wanted]).map((needle) =>
    needle === null ? '' : normalizeText(textOf(needle), params),
  )
  if (needles.length === 0 || needles.includes('')) {
    throw new Unscorable('invalid_expected', 'the list of texts to look for is empty', 'expected')
  }
  return needles
}

/** Returns true if the text contains the needle. */
export function holds(text: string, needle: string, whole: boolean): boolean {
  if (!whole && needle.length <= text.length && needle.length < 64) return text.includes(needle)
  for (const at of occurrences(text, needle)) {
    if (!whole || standsAlone(text, at, at + needle.length)) return true
  }
  return false
}

const WORD_CHARACTER = /^[\p{L}\p{M}\p{N}_]$/u

/** Returns true if [start, end) has no part of a word next to it. */
export function standsAlone(text: string, start: number, end: number): boolean {
  // A surrogate pair is one character: check both units if the first alone is not sufficient.
  const before = /[\s\S]$/u.exec(text.slice(Math.max(0, start - 2), start))?.[0] ?? ''
  const after = text.slice(end, end + 2).match(/^[\s\S]/u)?.[0] ?? ''
  return !WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)
}
