import { characterGrams, overlap, total, wordGrams } from './grams.ts'
import type { Grams } from './grams.ts'
import { splitLikePython } from './words.ts'

export interface ChrfOptions {
  readonly charOrder: number
  readonly wordOrder: number
  readonly beta: number
  readonly lowercase: boolean
  readonly whitespace: boolean
}

/**
 * For each order of characters, then of words: n-grams of the output, of the reference, of both.
 */
export type ChrfCounts = readonly number[]

/** Returns the n-grams of a text, order by order: characters first, then words. */
export function chrfGrams(text: string, options: ChrfOptions): readonly Grams[] {
  const line = options.lowercase ? text.toLowerCase() : text
  const characters = options.whitespace ? line : splitLikePython(line).join('')
  const grams: Grams[] = []
  for (let order = 1; order <= options.charOrder; order++)
    grams.push(characterGrams(characters, order))
  if (options.wordOrder === 0) return grams
  const words = splitLikePython(line).flatMap(cutPunctuation)
  for (let order = 1; order <= options.wordOrder; order++) grams.push(wordGrams(words, order))
  return grams
}

const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/

/** Splits off one sign at the end of a word, or else at its start. */
function cutPunctuation(word: string): string[] {
  const last = word.at(-1) ?? ''
  if (word.length === 1) return [word]
  if (ASCII_PUNCTUATION.test(last)) return [word.slice(0, -1), last]
  const first = word.charAt(0)
  return ASCII_PUNCTUATION.test(first) ? [first, word.slice(1)] : [word]
}

export const chrfCounts = (output: readonly Grams[], reference: readonly Grams[]): ChrfCounts =>
  output.flatMap((own, at) => {
    const other = reference[at] ?? new Map<string, number>()
    // An order that the reference is too short for does not count against the output.
    return [other.size > 0 ? total(own) : 0, total(other), overlap(own, other)]
  })

/**
 * Returns chrF from 0 to 1: the F-beta of precision and recall, each the mean over the existing
 * orders.
 */
export function chrf(counts: ChrfCounts, beta: number): number {
  let precision = 0
  let recall = 0
  let orders = 0
  for (let at = 0; at < counts.length; at += 3) {
    const [own = 0, reference = 0, common = 0] = counts.slice(at, at + 3)
    if (own === 0 || reference === 0) continue
    precision += common / own
    recall += common / reference
    orders++
  }
  if (precision + recall === 0) return 0
  const weight = beta ** 2
  const [p, r] = [precision / orders, recall / orders]
  return ((1 + weight) * p * r) / (weight * p + r)
}
