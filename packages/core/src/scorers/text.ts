import { z } from 'zod'
import { foldCase } from './case-fold.ts'

/** The parameters that make a comparison of texts lenient. Default: all off. */
export const textParams = {
  ignore_case: z.boolean().default(false).describe('Full Unicode case folding: straße = STRASSE'),
  ignore_whitespace: z
    .enum(['none', 'trim', 'collapse'])
    .default('none')
    .describe('trim cuts both ends; collapse also makes every inner run one space'),
  ignore_punctuation: z
    .boolean()
    .default(false)
    .describe('Leave out Unicode punctuation and symbols'),
  unicode_normalization: z.enum(['none', 'NFC', 'NFKC']).default('none'),
}

export type TextParams = z.output<z.ZodObject<typeof textParams>>

const WHITESPACE = /\p{White_Space}+/gu
const PUNCTUATION = /[\p{P}\p{S}]/gu

/** Returns a text in the form for comparison under these parameters. */
export function normalizeText(text: string, params: TextParams): string {
  return isStrict(params) ? text : lenient(text, params)
}

const isStrict = (params: TextParams): boolean =>
  !params.ignore_case &&
  !params.ignore_punctuation &&
  params.ignore_whitespace === 'none' &&
  params.unicode_normalization === 'none'

function lenient(text: string, params: TextParams): string {
  const { unicode_normalization: form } = params
  let result = form === 'none' ? text : text.normalize(form)
  if (params.ignore_case) result = foldCase(result)
  if (params.ignore_punctuation) result = result.replace(PUNCTUATION, '')
  if (params.ignore_whitespace === 'collapse') result = result.replace(WHITESPACE, ' ')
  if (params.ignore_whitespace !== 'none') result = trimWhitespace(result)
  // Case folding and removals can undo the Unicode form, so it is applied last.
  return form === 'none' ? result : result.normalize(form)
}

const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/g
// Marks count as word characters: "an" is not the start of a decomposed "año".
const ARTICLES = /(?<![\p{L}\p{M}\p{N}_])(?:a|an|the)(?![\p{L}\p{M}\p{N}_])/gu

/**
 * Normalizes an answer as in SQuAD: lower case, no ASCII punctuation, no English articles, single
 * spaces. Articles end at Unicode word borders; with JavaScript's `\b`, "año" loses its a.
 */
export function normalizeSquad(text: string): string {
  const words = text.toLowerCase().replace(ASCII_PUNCTUATION, '').replace(ARTICLES, ' ')
  return words.replace(WHITESPACE, ' ').trim()
}

const WHITESPACE_UNIT = /^\p{White_Space}$/u

/**
 * Removes Unicode white space at the ends of a text. Unit by unit: a pattern that ends with `$`
 * retries at each blank of a long run in the middle, which takes quadratic time.
 */
export function trimWhitespace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && WHITESPACE_UNIT.test(text.charAt(start))) start++
  while (end > start && WHITESPACE_UNIT.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}
