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
  .describe('No letter, mark, digit or underscore next to what was found')

export const Needles = z.array(z.string()).min(1).max(1000)

/** What to look for: the parameter, else `expected`. Throws `Unscorable` where there is nothing. */
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
    throw new Unscorable('invalid_expected', 'there is no text to look for', 'expected')
  }
  return needles
}

/** Whether the text holds the needle, anywhere. */
export function holds(text: string, needle: string, whole: boolean): boolean {
  if (!whole && needle.length <= text.length && needle.length < 64) return text.includes(needle)
  for (const at of occurrences(text, needle)) {
    if (!whole || standsAlone(text, at, at + needle.length)) return true
  }
  return false
}

const WORD_CHARACTER = /^[\p{L}\p{M}\p{N}_]$/u

/** Whether [start, end) has no part of a word next to it. */
export function standsAlone(text: string, start: number, end: number): boolean {
  // A pair of surrogates is one character: look at both units where the first alone is not enough.
  const before = /[\s\S]$/u.exec(text.slice(Math.max(0, start - 2), start))?.[0] ?? ''
  const after = text.slice(end, end + 2).match(/^[\s\S]/u)?.[0] ?? ''
  return !WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)
}
