import {
  FEATURE_BITS,
  Lexicon,
  partsOf,
  readLeet,
  Typos,
  Vocabulary,
  WordClasses,
} from '@remit/core/guard/internals'
import type { View } from '@remit/core/guard/internals'
import { exampler } from './examples.ts'
import { randomOf, roundHead, trainHead } from './head.ts'
import type { RoundedHead } from './head.ts'
import { plant } from './plant.ts'
import { isDocument, isEmbedded } from './rows.ts'
import type { Row } from './rows.ts'
import { vocabularyOf } from './vocabulary.ts'
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
