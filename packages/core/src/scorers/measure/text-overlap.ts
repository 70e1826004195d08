import { cutEnd, splitLikePython } from '../text.ts'

/** The frequencies of runs of `order` neighbors. */
export type Grams = ReadonlyMap<string, number>

/** Returns the n-grams of words, joined with blanks, which words do not contain. */
export function wordGrams(words: readonly string[], order: number): Grams {
  const grams = new Map<string, number>()
  for (let at = 0; at + order <= words.length; at++) {
    let gram = words[at] ?? ''
    for (let next = at + 1; next < at + order; next++) gram += ` ${words[next] ?? ''}`
    grams.set(gram, (grams.get(gram) ?? 0) + 1)
  }
  return grams
}

/** Returns the n-grams of characters: of code points, never of halves of a surrogate pair. */
function characterGrams(text: string, order: number): Grams {
  const grams = new Map<string, number>()
  const starts = startsOf(text)
  for (let at = 0; at + order < starts.length; at++) {
    const gram = text.slice(starts[at], starts[at + order])
    grams.set(gram, (grams.get(gram) ?? 0) + 1)
  }
  return grams
}

/** Returns the start of each code point, and the end of the text. */
function startsOf(text: string): Int32Array {
  const starts = new Int32Array(text.length + 1)
  let count = 0
  for (let at = 0; at < text.length; at++) {
    starts[count++] = at
    if ((text.codePointAt(at) ?? 0) > 0xffff) at++
  }
  starts[count++] = text.length
  return starts.subarray(0, count)
}

export function total(grams: Grams): number {
  let sum = 0
  for (const count of grams.values()) sum += count
  return sum
}

/** Returns the number of common occurrences: the lower count of both sides for each n-gram. */
export function overlap(a: Grams, b: Grams): number {
  const [fewer, more] = a.size <= b.size ? [a, b] : [b, a]
  let sum = 0
  for (const [gram, count] of fewer) {
    const other = more.get(gram)
    if (other !== undefined) sum += Math.min(count, other)
  }
  return sum
}

/** Returns the highest count of each n-gram among several texts. */
function union(all: readonly Grams[]): Grams {
  const [first = new Map<string, number>(), ...others] = all
  if (others.length === 0) return first
  const most = new Map(first)
  for (const grams of others) {
    for (const [gram, count] of grams) most.set(gram, Math.max(count, most.get(gram) ?? 0))
  }
  return most
}

type BleuTokenizer = '13a' | 'intl' | 'char' | 'none'

/** Tokenizes a text as sacrebleu does for BLEU. */
export function bleuTokens(text: string, tokenizer: BleuTokenizer): string[] {
  const line = cutEnd(text)
  if (tokenizer === '13a') return splitLikePython(mteval13a(line))
  if (tokenizer === 'intl') return splitLikePython(mteval14(line))
  return splitLikePython(tokenizer === 'char' ? Array.from(line).join(' ') : line)
}

// The international rules (mteval-v14).
const AFTER_NON_DIGIT = /(\P{N})(\p{P})/gu
const BEFORE_NON_DIGIT = /(\p{P})(\P{N})/gu
const SYMBOL = /(\p{S})/gu

const mteval14 = (line: string): string =>
  line
    .replace(AFTER_NON_DIGIT, '$1 $2 ')
    .replace(BEFORE_NON_DIGIT, ' $1 $2')
    .replace(SYMBOL, ' $1 ')

// The rules of mteval-v13a: most ASCII signs are tokens; periods, commas and hyphens only away
// from, or after, digits.
const SIGN = /([{-~[-` -&(-+:-@/])/g
const POINT_AFTER = /([^0-9])([.,])/gu
const POINT_BEFORE = /([.,])([^0-9])/gu
const HYPHEN = /([0-9])(-)/g

function mteval13a(text: string): string {
  const line = text
    .replaceAll('<skipped>', '')
    .replaceAll('-\n', '')
    .replaceAll('\n', ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
  return ` ${line} `
    .replace(SIGN, ' $1 ')
    .replace(POINT_AFTER, '$1 $2 ')
    .replace(POINT_BEFORE, ' $1 $2')
    .replace(HYPHEN, '$1 $2 ')
}

export interface BleuOptions {
  readonly smooth: 'exp' | 'floor' | 'add_k' | 'none'
  /** For `floor` and `add_k`. */
  readonly smoothValue: number
  /** Use only the orders that the text is long enough for; for single sentences. */
  readonly effectiveOrder: boolean
}

/** `[length, reference length, matches of order 1…n, n-grams of order 1…n]`; they add up. */
type BleuCounts = readonly number[]

/**
 * Returns the counts for BLEU. Several references are merged: each n-gram has its highest count.
 */
export function bleuCounts(
  output: readonly string[],
  references: readonly (readonly string[])[],
  maxOrder: number,
): BleuCounts {
  const matches: number[] = []
  const totals: number[] = []
  for (let order = 1; order <= maxOrder; order++) {
    const own = wordGrams(output, order)
    matches.push(overlap(own, union(references.map((words) => wordGrams(words, order)))))
    totals.push(total(own))
  }
  return [output.length, closestLength(output.length, references), ...matches, ...totals]
}

function closestLength(length: number, references: readonly (readonly string[])[]): number {
  let closest = references[0]?.length ?? 0
  for (const { length: other } of references) {
    const nearer = Math.abs(other - length) - Math.abs(closest - length)
    if (nearer < 0 || (nearer === 0 && other < closest)) closest = other
  }
  return closest
}

/** Returns BLEU from 0 to 1, as in sacrebleu. */
export function bleu(counts: BleuCounts, options: BleuOptions): number {
  const [length = 0, reference = 0, ...rest] = counts
  const orders = rest.length / 2
  const matches = rest.slice(0, orders)
  const totals = rest.slice(orders)
  if (!matches.some((count) => count > 0)) return 0
  const penalty = length < reference ? Math.exp(1 - reference / length) : 1
  const { logs, reached } = logPrecisions(matches, totals, options)
  const order = options.effectiveOrder ? reached : orders
  let sum = 0
  for (let at = 0; at < order; at++) sum += logs[at] ?? Number.NEGATIVE_INFINITY
  return Math.min(1, penalty * Math.exp(sum / order))
}

function logPrecisions(
  matches: readonly number[],
  totals: readonly number[],
  { smooth, smoothValue }: BleuOptions,
): { logs: number[]; reached: number } {
  const logs: number[] = []
  let halving = 1
  for (const [at, found] of matches.entries()) {
    // With add-k, an order without n-grams does not end the sum either.
    const added = smooth === 'add_k' && at > 0 ? smoothValue : 0
    const all = (totals[at] ?? 0) + added
    if (all === 0) break
    let hits = found + added
    if (hits === 0 && smooth === 'exp') {
      halving *= 2
      hits = 1 / halving
    } else if (hits === 0 && smooth === 'floor') {
      hits = smoothValue
    }
    logs.push(Math.log(hits / all))
  }
  return { logs, reached: logs.length }
}

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
type ChrfCounts = readonly number[]

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
