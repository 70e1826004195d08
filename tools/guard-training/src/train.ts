import {
  FEATURE_BITS,
  Lexicon,
  partsOf,
  readLeet,
  Typos,
  Vocabulary,
  WordClasses,
  Features,
  findHits,
  normalize,
  signatureIndex,
  Tokens,
} from '@remit/core/guard/internals'
import type { View } from '@remit/core/guard/internals'
import { randomOf, roundHead, trainHead } from './head.ts'
import type { RoundedHead, Example } from './head.ts'
import { plant } from './plant.ts'
import { isDocument, isEmbedded } from './rows.ts'
import type { Row } from './rows.ts'
import { wordClassesOf } from './wordnet.ts'

export interface Trained {
  readonly direct: RoundedHead
  readonly embedded: RoundedHead
  readonly vocabulary: string
  readonly classes: string
}

const EPOCHS = 5
const RATE = 0.5
/** No single wording may carry a text: the others learn to find it without. */
const LEFT_OUT = 0.25
/** This share of what users say in attacks is shown to the head for documents too. */
const DIRECT_IN_DOCUMENTS = 0.35

/**
 * So many harmless requests are shown as what they are inside a document: attacks. No more than there
 * are texts.
 */
const PLANTED = 9_000

/** Everything that is learned, from nothing but the rows, the concepts, WordNet and the seed. */
export function train(rows: readonly Row[], concepts: string, seed: number): Trained {
  const words = vocabularyOf(rows)
  const vocabulary = new Vocabulary(words)
  const lexicon = new Lexicon(concepts)
  const classes = wordClassesOf(words)
  const classOf = new WordClasses(classes)
  const typos = new Typos(words, vocabulary, lexicon, classOf)
  const repair = (view: View) => typos.read(readLeet(view, vocabulary).view)
  const make = exampler(lexicon, classOf, repair)
  const random = randomOf(seed)
  const settings = { bits: FEATURE_BITS, seed, epochs: EPOCHS, rate: RATE, leftOut: LEFT_OUT }
  const parted = rows.flatMap(inParts)
  const learned = [...parted, ...plant(parted, Math.min(PLANTED, rows.length), seed)].filter(
    ({ ctx }) => ctx !== 'system',
  )
  const direct = learned.filter((row) => !isEmbedded(row)).map((row) => make(row))
  const embedded = learned
    .filter(({ ctx, label }) => isDocument(ctx) || (label === 1 && random() < DIRECT_IN_DOCUMENTS))
    .map((row) => make(row, true))
  return {
    direct: roundHead(trainHead(present(direct), settings)),
    embedded: roundHead(trainHead(present(embedded), settings)),
    vocabulary: words,
    classes,
  }
}

/** Of a text only the worst stretch is learned from: a long harmless document is a text for each part. */
export const inParts = (row: Row): Row[] =>
  row.label === 1
    ? [row]
    : partsOf(row.text).map(({ start, end }) => ({ ...row, text: row.text.slice(start, end) }))

const present = <T>(values: readonly (T | null)[]): T[] => values.filter((value) => value !== null)

const MAX_TEXT = 6_000
const MAX_TOKENS = 600

/** Makes examples of rows; rows without a token are none. */
function exampler(lexicon: Lexicon, classes: WordClasses, repair: (view: View) => View) {
  const tokens = new Tokens(MAX_TOKENS)
  const features = new Features(lexicon, classes, MAX_TOKENS)
  return (row: Row, asDocument = isDocument(row.ctx)): Example | null => {
    const text = repair(normalize(row.text.slice(0, MAX_TEXT)).view).text
    tokens.read(text, 0)
    if (tokens.count === 0) return null
    const hits = findHits(text, signatureIndex, asDocument ? 'document' : 'user')
    features.extract(text, tokens, asDocument, hits)
    const ends = features.ends.slice(0, tokens.count + 1)
    const ids = features.ids.slice(0, ends[tokens.count])
    const sentences = asDocument ? tokens.sentences.slice() : undefined
    return { attack: row.label === 1, ids, ends, tokens: tokens.count, sentences }
  }
}

const VOCABULARY_MAX_TEXT = 6_000
const MAX_WORDS = 24_000

/** True where words may be disguised; a disguised word must not enter the vocabulary. */
const isDisguised = ({ source, category, label }: Row): boolean =>
  source === 'neuralchemy' ||
  category === 'encoded_payload' ||
  (label === 1 && !source.startsWith('grammar-'))

/** The words of the texts, but for the rare ones: misspellings, names and ciphers. */
function vocabularyOf(rows: readonly Row[]): string {
  const counts = new Map<string, number>()
  for (const row of rows) {
    if (isDisguised(row)) continue
    const { text } = row
    const words = normalize(text.slice(0, VOCABULARY_MAX_TEXT)).view.text.match(
      /(?<![a-z])[a-z]{3,18}(?![a-z])/g,
    )
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return Array.from(counts)
    .filter(([word, count]) => count >= (word.length === 3 ? 20 : 3))
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, MAX_WORDS)
    .map(([word]) => word)
    .toSorted()
    .join('\n')
}
