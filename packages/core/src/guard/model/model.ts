import type { GuardSource } from '@remit/contract'
import type { Hit } from '../signature.ts'
import type { View, ViewName } from '../view.ts'
import { Vocabulary } from '../views/vocabulary.ts'
import { Features } from './features.ts'
import { Lexicon } from './lexicon.ts'
import { Tokens } from './tokens.ts'
import type { Cuts, Weights } from './weights.ts'
import { bestStretch, share } from './windows.ts'

/** The result of a head for a text: its most suspicious stretch and its score. */
export interface Judgement {
  readonly head: 'direct' | 'embedded'
  /** Raw score, on the scale of the cuts. */
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

/** Segments overlap by the longest window, so that no stretch is missed. */
const SEGMENT = 4_096
const OVERLAP = 96
const MAX_TERMS = 10
/** Upper bound of a score. */
const ALMOST_SURE = 0.9999
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
  readonly #weights: Weights
  readonly #lexicon: Lexicon
  readonly #tokens = new Tokens(SEGMENT)
  readonly #features: Features
  readonly #sums = new Float64Array(SEGMENT + 1)

  readonly #least: number

  /** `least` is the score below which no judgement is returned. */
  constructor(weights: Weights, least = LEAST) {
    this.#least = least
    this.#weights = weights
    this.#lexicon = new Lexicon(weights.concepts)
    this.#features = new Features(this.#lexicon, SEGMENT)
    this.vocabulary = new Vocabulary(weights.vocabulary)
  }

  /** Judges a normalized view segment by segment; `hits` are its matching signatures. */
  judge(
    { text, name: view }: View,
    source: GuardSource,
    hits: readonly Hit[],
    explain: boolean,
  ): Judgement[] {
    const isDocument = source === 'document' || source === 'tool'
    const { cuts, heads } = this.#weights.header
    const found: Judgement[] = []
    const tokens = this.#tokens
    for (let from = 0; from < text.length;) {
      const stopped = tokens.read(text, from)
      if (tokens.count === 0) break
      this.#features.extract(text, tokens, isDocument, hits)
      const look = (head: Judgement['head'], cut: Cuts) => {
        const judgement = this.#look(head, heads[head], cut, text, explain)
        if (judgement) found.push(judgement)
      }
      look('direct', isDocument ? cuts.directInDocument : cuts.user)
      if (isDocument && READ_FOR_INSTRUCTIONS.has(view)) look('embedded', cuts.embedded)
      if (stopped >= text.length) break
      from = tokens.starts[tokens.count - OVERLAP] ?? stopped
    }
    return found
  }

  #look(
    name: Judgement['head'],
    { scale, bias }: { readonly scale: number; readonly bias: number },
    cuts: Cuts,
    text: string,
    explain: boolean,
  ): Judgement | null {
    const tokens = this.#tokens
    const weights = this.#weights[name]
    this.#addUp(weights)
    const sums = this.#sums
    const { ends } = this.#features
    const best = bestStretch(sums, ends, tokens.count)
    const raw = best.score * scale + bias
    const score = shareOf(raw, cuts)
    if (score < this.#least) return null
    const weight = scale * share((ends[best.end] ?? 0) - (ends[best.start] ?? 0))
    const word = (i: number) => text.slice(tokens.starts[i], tokens.ends[i])
    const range = Array.from({ length: best.end - best.start }, (_, i) => best.start + i)
    return {
      head: name,
      raw,
      score,
      start: tokens.starts[best.start] ?? 0,
      end: tokens.ends[best.end - 1] ?? 0,
      concepts: this.#conceptsIn(text, best.start, best.end),
      terms: explain
        ? range
            .map((i) => ({ word: word(i), weight: ((sums[i + 1] ?? 0) - (sums[i] ?? 0)) * weight }))
            .filter((term) => term.weight > 0)
            .toSorted((a, b) => b.weight - a.weight)
            .slice(0, MAX_TERMS)
        : [],
    }
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

/**
 * Converts a raw score: 0.5 at the cut for flagging and 0.8 at that for blocking, along a logistic
 * curve.
 */
export function shareOf(raw: number, { flag, block }: Cuts): number {
  const slope = Math.log(4) / (block - flag)
  const exact = 1 / (1 + Math.exp(-slope * (raw - flag)))
  return Math.min(ALMOST_SURE, Math.round(exact * 1e4) / 1e4)
}
