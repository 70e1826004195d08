import type { GuardSource } from '@remit/contract'
import { partsOf } from '../parts.ts'
import type { Hit } from '../signature.ts'
import { roundShare } from '../share.ts'
import type { View, ViewName } from '../view.ts'
import { Typos } from '../views/typos.ts'
import { Vocabulary } from '../views/vocabulary.ts'
import { Features } from './features.ts'
import { Lexicon } from './lexicon.ts'
import { costOf, MOST_GIVEN } from './standing-out.ts'
import type { Standing } from './standing-out.ts'
import { Tokens } from './tokens.ts'
import type { Cuts, Head, Weights } from './weights.ts'
import { bestStretch, REACH, share } from './windows.ts'
import type { Stretch } from './windows.ts'
import { WordClasses } from './word-classes.ts'

/** The result of a head for one part of a text: its most suspicious stretch and its score. */
export interface Judgement {
  readonly head: Head
  /** Raw score, on the scale of the cuts, after the costs of the document. */
  readonly raw: number
  /** 0 to 1: flagged from 0.5, blocked from 0.8. */
  readonly score: number
  /** The stretch [start, end) of the view's text. */
  readonly start: number
  readonly end: number
  /** Names of the concepts in it. */
  readonly concepts: ReadonlySet<string>
  /** The words with the largest weights, on request. */
  readonly terms: readonly Term[]
}

export interface Term {
  readonly word: string
  readonly weight: number
}

export interface JudgedText {
  readonly judgements: readonly Judgement[]
  /** Length and levels that the parts of the text were measured against. */
  readonly standing: Standing
}

/** Largest number of tokens in a part, plus those after it that its stretches can reach. */
const CAPACITY = 3_000 + REACH
const MAX_TERMS = 10
/** Below this score, no details are returned. */
const LEAST = 0.2
// Plain text and markup of a document are read for instructions; a cipher in it is not.
const READ_FOR_INSTRUCTIONS: ReadonlySet<ViewName> = new Set([
  'normalized',
  'escapes',
  'tags_removed',
  'hidden',
])

/** The trained part of the guard. Not re-entrant: it uses its own buffers. */
export class Model {
  readonly vocabulary: Vocabulary
  readonly typos: Typos
  readonly #weights: Weights
  readonly #lexicon: Lexicon
  readonly #tokens = new Tokens(CAPACITY)
  readonly #features: Features
  readonly #sums = new Float64Array(CAPACITY + 1)
  readonly #least: number

  /** `least` is the score below which no judgement is returned. */
  constructor(weights: Weights, least = LEAST) {
    const classes = new WordClasses(weights.classes)
    this.#least = least
    this.#weights = weights
    this.#lexicon = new Lexicon(weights.concepts)
    this.#features = new Features(this.#lexicon, classes, CAPACITY)
    this.vocabulary = new Vocabulary(weights.vocabulary)
    this.typos = new Typos(weights.vocabulary, this.vocabulary, this.#lexicon, classes)
  }

  /**
   * Judges a normalized view part by part; `hits` are the signatures that fire in it. `standing` is that
   * of the document that the view is decoded from; absent for the document itself.
   */
  judge(
    { text, name: view }: View,
    source: GuardSource,
    hits: readonly Hit[],
    explain: boolean,
    standing?: Standing,
  ): JudgedText {
    const isDocument = source === 'document' || source === 'tool'
    const { cuts } = this.#weights.header
    const heads: readonly (readonly [Head, Cuts])[] =
      isDocument && READ_FOR_INSTRUCTIONS.has(view)
        ? [
            ['direct', cuts.directInDocument],
            ['embedded', cuts.embedded],
          ]
        : [['direct', isDocument ? cuts.directInDocument : cuts.user]]
    const found: { readonly judgement: Omit<Judgement, 'score'>; readonly cut: Cuts }[] = []
    const levels: Record<Head, number[]> = { direct: [], embedded: [] }
    for (const { start, end } of partsOf(text)) {
      this.#tokens.read(text, start, end, REACH)
      if (this.#tokens.own === 0) continue
      this.#features.extract(text, this.#tokens, isDocument, hits)
      for (const [head, cut] of heads) {
        const { raw, stretch } = this.#look(head, isDocument)
        levels[head].push(raw)
        if (shareOf(raw + MOST_GIVEN, cut) < this.#least) continue
        found.push({ cut, judgement: this.#describe(head, raw, stretch, text, explain) })
      }
    }
    for (const level of Object.values(levels)) level.sort((a, b) => a - b)
    const own = { length: text.length, levels }
    const judgements = found
      .map(({ judgement, cut }) => {
        const raw = isDocument ? judgement.raw - costIn(judgement, own, standing) : judgement.raw
        return { ...judgement, raw, score: shareOf(raw, cut) }
      })
      .filter(({ score }) => score >= this.#least)
    return { judgements, standing: own }
  }

  /** The best stretch of the part that was read last. */
  #look(head: Head, isDocument: boolean): { raw: number; stretch: Stretch } {
    const { scale, bias } = this.#weights.header.heads[head]
    this.#addUp(this.#weights[head])
    const { count, own, sentences } = this.#tokens
    const stretch = isDocument
      ? bestStretch(this.#sums, this.#features.ends, count, own, sentences)
      : bestStretch(this.#sums, this.#features.ends, count, own)
    return { raw: stretch.score * scale + bias, stretch }
  }

  #describe(
    head: Head,
    raw: number,
    { start, end }: Stretch,
    text: string,
    explain: boolean,
  ): Omit<Judgement, 'score'> {
    const { starts, ends } = this.#tokens
    return {
      head,
      raw,
      start: starts[start] ?? 0,
      end: ends[end - 1] ?? 0,
      concepts: this.#conceptsIn(text, start, end),
      terms: explain ? this.#termsOf(head, text, start, end) : [],
    }
  }

  /** The heaviest words of a stretch, for the head that was evaluated last. */
  #termsOf(head: Head, text: string, start: number, end: number): Term[] {
    const { starts, ends } = this.#tokens
    const features = (this.#features.ends[end] ?? 0) - (this.#features.ends[start] ?? 0)
    const weight = this.#weights.header.heads[head].scale * share(features)
    return Array.from({ length: end - start }, (_, i) => ({
      word: text.slice(starts[start + i], ends[start + i]),
      weight: ((this.#sums[start + i + 1] ?? 0) - (this.#sums[start + i] ?? 0)) * weight,
    }))
      .filter((term) => term.weight > 0)
      .toSorted((a, b) => b.weight - a.weight)
      .slice(0, MAX_TERMS)
  }

  #addUp(weights: Int8Array): void {
    const { ids, ends } = this.#features
    const sums = this.#sums
    const { count } = this.#tokens
    let sum = 0
    let at = 0
    for (let i = 1; i <= count; i++) {
      const end = ends[i] ?? 0
      for (; at < end; at++) sum += weights[ids[at] ?? 0] ?? 0
      sums[i] = sum
    }
  }

  #conceptsIn(text: string, start: number, end: number): Set<string> {
    const { starts, ends, hashes, kinds } = this.#tokens
    const found = new Set<string>()
    for (let i = start; i < end; i++) {
      const from = starts[i] ?? 0
      const concepts =
        kinds[i] === 0
          ? this.#lexicon.ofWord(text, from, ends[i] ?? 0, hashes[i] ?? 0)
          : kinds[i] === 2
            ? this.#lexicon.ofPart(text, from)
            : []
      for (const concept of concepts) found.add(this.#lexicon.names[concept - 1] ?? '')
    }
    return found
  }
}

const costIn = (
  { head, raw }: Omit<Judgement, 'score'>,
  own: Standing,
  standing?: Standing,
): number => (standing ? costOf(standing, head) : costOf(own, head, raw))

/**
 * Converts a raw score: 0.5 at the cut for flagging and 0.8 at that for blocking, along a logistic
 * curve.
 */
export function shareOf(raw: number, { flag, block }: Cuts): number {
  const slope = Math.log(4) / (block - flag)
  return roundShare(1 / (1 + Math.exp(-slope * (raw - flag))))
}
