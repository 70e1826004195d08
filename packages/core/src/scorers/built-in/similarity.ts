import type { ResultToScore } from '@remit/contract'
import { z } from 'zod'
import { alternativesOf, bestOf, textOf, checkTextLength } from '../params.ts'
import { defineScorer, Unscorable } from '../scorer.ts'
import type { ScoreOutcome, PureScorer, FieldName } from '../scorer.ts'
import {
  bleu as bleuOf,
  bleuCounts,
  bleuTokens,
  chrf as chrfOf,
  chrfCounts,
  chrfGrams,
  overlap,
  total,
  wordGrams,
} from '../measure/text-overlap.ts'
import type { BleuOptions, ChrfOptions } from '../measure/text-overlap.ts'
import {
  longestCommon,
  editsOf,
  similarity,
  codePointsOf,
  jaroWinkler as measure,
} from '../measure/edit-distance.ts'
import { Numbering } from '../measure/numbers.ts'
import {
  asciiWords,
  unicodeWords,
  splitLikePython,
  normalizeSquad,
  normalizeText,
  textParams,
} from '../text.ts'
import type { TextParams } from '../text.ts'

/** Compares the output as text with each alternative of `expected`; returns the best outcome. */
function bestText(
  result: ResultToScore,
  score: (output: string, expected: string) => ScoreOutcome,
): ScoreOutcome {
  const output = textOf(result.output)
  if (!Array.isArray(result.expected)) return score(output, textOf(result.expected))
  return bestOf(alternativesOf(result), (expected) => score(output, textOf(expected)))
}

const Params = z
  .strictObject({
    tokenize: z.enum(['13a', 'intl', 'char', 'none']).default('13a'),
    smooth: z.enum(['exp', 'floor', 'add_k', 'none']).default('exp'),
    smooth_value: z
      .number()
      .min(0)
      .max(1_000)
      .optional()
      .describe('Value for the smoothings floor (default 0.1) and add_k (default 1)'),
    lowercase: z.boolean().default(false),
    max_order: z.int().min(1).max(8).default(4).describe('Maximum n-gram order'),
  })
  .refine(
    ({ smooth, smooth_value }) =>
      smooth_value === undefined || smooth === 'floor' || smooth === 'add_k',
    { path: ['smooth_value'], message: 'belongs to the smoothings floor and add_k' },
  )
type Params = z.output<typeof Params>

const DEFAULT_VALUES = { exp: 0, none: 0, floor: 0.1, add_k: 1 }

/** BLEU as in sacrebleu, for a sentence and for the corpus. Alternatives are references. */
export const bleu = defineScorer({
  name: 'bleu',
  description: 'BLEU of output against one or more references, as sacrebleu computes it, 0 to 1',
  defaultThreshold: 0.5,
  params: Params,
  fields: { output: 'required', expected: 'required' },
  inlineLength: 4_096,
  score: (result, params) => {
    const tokens = (value: unknown) => {
      const text = textOf(value)
      return bleuTokens(params.lowercase ? text.toLowerCase() : text, params.tokenize)
    }
    const references = alternativesOf(result).map(tokens)
    const counts = bleuCounts(tokens(result.output), references, params.max_order)
    const [length, reference] = counts
    return {
      score: bleuOf(counts, optionsOf(params, true)),
      reason: 'BLEU',
      graded: true,
      metadata: { length, reference_length: reference },
      tally: counts,
    }
  },
  corpusScore: (counts, params) => bleuOf(counts, optionsOf(params, false)),
})

const optionsOf = (params: Params, effectiveOrder: boolean): BleuOptions => ({
  smooth: params.smooth,
  smoothValue: params.smooth_value ?? DEFAULT_VALUES[params.smooth],
  effectiveOrder,
})

const ChrfParams = z.strictObject({
  char_order: z.int().min(1).max(10).default(6),
  word_order: z.int().min(0).max(4).default(0).describe('2 is chrF++'),
  beta: z.number().min(0).max(100).default(2).describe('Weight of recall relative to precision'),
  lowercase: z.boolean().default(false),
  whitespace: z.boolean().default(false).describe('White space counts as characters'),
})
type ChrfParams = z.output<typeof ChrfParams>

/** chrF as in sacrebleu, for a sentence and for the corpus. The best reference counts. */
export const chrf = defineScorer({
  name: 'chrf',
  description: 'chrF of output against one or more references, as sacrebleu computes it, 0 to 1',
  defaultThreshold: 0.5,
  params: ChrfParams,
  fields: { output: 'required', expected: 'required' },
  inlineLength: 2_048,
  score: (result, params) => {
    const options = chrfOptionsOf(params)
    const own = chrfGrams(textOf(result.output), options)
    return bestOf(alternativesOf(result), (reference) => {
      const tally = chrfCounts(own, chrfGrams(textOf(reference), options))
      return { score: chrfOf(tally, params.beta), reason: 'chrF', graded: true, tally }
    })
  },
  corpusScore: (counts, { beta }) => chrfOf(counts, beta),
})

const chrfOptionsOf = (params: ChrfParams): ChrfOptions => ({
  charOrder: params.char_order,
  wordOrder: params.word_order,
  beta: params.beta,
  lowercase: params.lowercase,
  whitespace: params.whitespace,
})

const RougeParams = z.strictObject({
  metric: z.enum(['fmeasure', 'precision', 'recall']).default('fmeasure'),
  tokenizer: z
    .enum(['ascii', 'unicode'])
    .default('ascii')
    .describe('ascii: words of a-z and 0-9, as the reference; unicode: of any script'),
})
type RougeParams = z.output<typeof RougeParams>

/** Counts of the common units, and of those of each text. */
interface Counts {
  readonly common: number
  readonly output: number
  readonly expected: number
}
type Count = (output: readonly string[], expected: readonly string[]) => Counts

const grams =
  (order: number): Count =>
  (output, expected) => {
    const a = wordGrams(output, order)
    const b = wordGrams(expected, order)
    return { common: overlap(a, b), output: total(a), expected: total(b) }
  }

function measuresOf({ common, output, expected }: Counts) {
  const precision = common / Math.max(1, output)
  const recall = common / Math.max(1, expected)
  const fmeasure = common === 0 ? 0 : (2 * precision * recall) / (precision + recall)
  return { fmeasure, precision, recall }
}

const subsequence: Count = (output, expected) => {
  const numbering = new Numbering()
  const a = numbering.all(output)
  const b = numbering.all(expected)
  const common = longestCommon(a, b, numbering.size)
  return { common, output: a.length, expected: b.length }
}

/** Same as google-research/rouge without its stemmer. */
const rouge = (name: string, what: string, count: Count): PureScorer =>
  defineScorer({
    name,
    description: `ROUGE of output against expected over ${what}, without stemming`,
    defaultThreshold: 0.5,
    params: RougeParams,
    fields: { output: 'required', expected: 'required' },
    inlineLength: 8_192,
    score: (result, params) =>
      bestText(result, (output, expected) => compare(output, expected, params, count)),
  })

export const rouge1 = rouge('rouge_1', 'single words', grams(1))
export const rouge2 = rouge('rouge_2', 'pairs of words', grams(2))
export const rougeL = rouge('rouge_l', 'the longest common sequence of words', subsequence)

function compare(
  output: string,
  expected: string,
  params: RougeParams,
  count: Count,
): ScoreOutcome {
  const words = params.tokenizer === 'ascii' ? asciiWords : unicodeWords
  const [a, b] = [words(output), words(expected)]
  const of = measuresOf(count(a, b))
  const blind =
    params.tokenizer === 'ascii' &&
    ((a.length === 0 && output !== '') || (b.length === 0 && expected !== ''))
  return {
    score: of[params.metric],
    reason: params.metric,
    graded: true,
    ...(blind && {
      note: 'a text has no word of ASCII letters; tokenizer "unicode" reads any script',
    }),
    metadata: of,
  }
}

export const tokenF1 = defineScorer({
  name: 'token_f1',
  description: 'F1 of the words of output and expected, normalized as SQuAD v2 does',
  defaultThreshold: 0.5,
  params: z.strictObject({}),
  fields: { output: 'required', expected: 'required' },
  inlineLength: 8_192,
  score: (result) => bestText(result, (output, expected) => f1(wordsOf(output), wordsOf(expected))),
})

const wordsOf = (text: string): string[] => splitLikePython(normalizeSquad(text))

function f1(output: readonly string[], expected: readonly string[]): ScoreOutcome {
  const graded = { reason: 'F1 of words', graded: true }
  // SQuAD's rule for "no answer": an empty answer is right only if the expected one is empty.
  if (output.length === 0 || expected.length === 0)
    return { ...graded, score: output.length === expected.length ? 1 : 0 }
  const { fmeasure: score, ...metadata } = measuresOf(grams(1)(output, expected))
  return { ...graded, score, metadata }
}

/**
 * The time is proportional to the product of both lengths: 50,000 characters take a third of a
 * second.
 */
const MAX_EDIT_LENGTH = 50_000

/** Both texts in their normal form. Folding and NFKC can make a text many times longer. */
function normalized(
  output: string,
  expected: string,
  params: TextParams,
  most: number,
): [string, string] {
  const a = normalizeText(output, params)
  const b = normalizeText(expected, params)
  checkTextLength('output', a, most)
  checkTextLength('expected', b, most)
  return [a, b]
}

export const levenshtein = defineScorer({
  name: 'levenshtein',
  description: 'Similarity of output and expected by edit distance: 1 - distance / longer length',
  defaultThreshold: 0.5,
  params: z.strictObject(textParams),
  fields: { output: 'required', expected: 'required' },
  maxTextLength: MAX_EDIT_LENGTH,
  inlineLength: 1_024,
  score: (result, params) =>
    bestText(result, (output, expected) => {
      const edits = editsOf(...normalized(output, expected, params, MAX_EDIT_LENGTH))
      return {
        score: similarity(edits),
        reason: 'similarity',
        graded: true,
        metadata: { distance: edits.distance },
      }
    }),
})

const MAX_LENGTH = 10_000

const JaroWinklerParams = z.strictObject({
  ...textParams,
  prefix_weight: z
    .number()
    .min(0)
    .max(0.25)
    .default(0.1)
    .describe('Bonus for each of the first 4 characters that are equal'),
})

/** For names and short texts: common characters near each other, and a common prefix. */
export const jaroWinkler = defineScorer({
  name: 'jaro_winkler',
  description: 'Jaro-Winkler similarity of output and expected, made for names',
  defaultThreshold: 0.5,
  params: JaroWinklerParams,
  fields: { output: 'required', expected: 'required' },
  maxTextLength: MAX_LENGTH,
  inlineLength: 1_024,
  score: (result, params) =>
    bestText(result, (output, expected) => {
      const [a, b] = normalized(output, expected, params, MAX_LENGTH)
      const score = measure(codePointsOf(a), codePointsOf(b), params.prefix_weight)
      return { score, reason: 'similarity', graded: true }
    }),
})

const EmbeddingSimilarityParams = z.strictObject({
  min: z
    .number()
    .min(-1)
    .lt(1)
    .default(0)
    .describe('Cosine that scores 0; cosines from there to 1 scale linearly to 0 to 1'),
})

export const embeddingSimilarity = defineScorer({
  name: 'embedding_similarity',
  description: 'Cosine similarity of output_embedding and expected_embedding',
  defaultThreshold: 0.5,
  params: EmbeddingSimilarityParams,
  fields: { output_embedding: 'required', expected_embedding: 'required' },
  inlineLength: 65_536,
  score: ({ output_embedding, expected_embedding }, { min }) => {
    const a = direction(output_embedding ?? [], 'output_embedding')
    const b = direction(expected_embedding ?? [], 'expected_embedding')
    if (a.length !== b.length)
      throw invalidVector('the vectors have different lengths', 'expected_embedding')
    let cosine = 0
    for (let at = 0; at < a.length; at++) cosine += (a[at] ?? 0) * (b[at] ?? 0)
    return {
      score: Math.min(1, Math.max(0, (cosine - min) / (1 - min))),
      reason: 'similarity',
      graded: true,
      metadata: { cosine: Math.min(1, Math.max(-1, cosine)) },
    }
  },
})

/**
 * Normalizes a vector to length 1. Scaled by its largest component first, whose square could
 * overflow or underflow.
 */
function direction(vector: readonly number[], field: FieldName): Float64Array {
  let largest = 0
  for (const part of vector) largest = Math.max(largest, Math.abs(part))
  if (!(largest > 0 && largest < Number.POSITIVE_INFINITY))
    throw invalidVector(`${field} is a zero vector`, field)
  const scaled = Float64Array.from(vector, (part) => part / largest)
  let square = 0
  for (const part of scaled) square += part * part
  const length = Math.sqrt(square)
  return scaled.map((part) => part / length)
}

const invalidVector = (reason: string, field: FieldName): Unscorable =>
  new Unscorable('invalid_embedding', reason, field)
