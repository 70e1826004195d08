import type { GuardSource } from '@remit/contract'
import { partsOf } from '../scored-parts.ts'
import type { Hit } from '../signature.ts'
import { roundShare } from '../detection.ts'
import type { View, ViewName } from '../view.ts'
import { Typos } from '../views/disguises.ts'
import { Vocabulary } from '../views/word-scan.ts'
import { Features, WordClasses } from './features.ts'
import { Lexicon } from './lexicon.ts'
import { Tokens } from './tokens.ts'
import type { Cuts, Head, Weights } from './weights.ts'
import type { CategoryId } from '../categories.ts'

/** Lengths of the judged stretches in tokens; each advances by half its length. */
const LENGTHS = [12, 24, 48, 96]
/** Texts up to this number of tokens are also judged as a whole. */
const MAX_WHOLE = 256
const MIN_PARTED = 14
/** Sentences of a document, and two in a row, are judged between these lengths. */
const SENTENCES = 2
const MIN_SENTENCE = 3
const MAX_SENTENCE = 96
/** Reserve for short stretches: a few strong words alone are not enough. */
const RESERVE = 100

/** Tokens beyond the end of a part that its stretches may reach into. */
const REACH = 48

const NO_SENTENCES = new Int32Array()

/** A stretch of tokens [start, end) and what a head makes of it. */
interface Stretch {
  readonly score: number
  readonly start: number
  readonly end: number
}

/**
 * Returns the most suspicious stretch: the sum of its weights over the root of its number of
 * features. `sums[i]` is the sum of the weights of the first `i` tokens, `ends[i]` their features.
 * A stretch has its middle among the first `own` of the `count` tokens: what follows is another part.
 * `sentences` are the tokens at which lines and sentences begin, of a document: an instruction in it is
 * one of them as a rule, and a stretch that begins elsewhere has words of its surroundings in it.
 */
export function bestStretch(
  sums: Float64Array,
  ends: Uint32Array,
  count: number,
  own = count,
  sentences: Int32Array = NO_SENTENCES,
): Stretch {
  let best = -Infinity
  let from = 0
  let to = own
  const judge = (start: number, end: number) => {
    const features = (ends[end] ?? 0) - (ends[start] ?? 0)
    const score = ((sums[end] ?? 0) - (sums[start] ?? 0)) / Math.sqrt(features + RESERVE)
    if (score <= best) return
    best = score
    from = start
    to = end
  }
  if (own > MIN_PARTED) {
    for (const length of LENGTHS) {
      if (length >= own) break
      for (let start = 0; start + (length >> 1) <= own || start === 0; start += length >> 1) {
        const end = Math.min(count, start + length)
        judge(start, end)
        if (end === count) break
      }
    }
  }
  for (let i = 0; i < sentences.length && (sentences[i] ?? 0) < own; i++) {
    const start = sentences[i] ?? 0
    for (let next = i + 1; next <= i + SENTENCES && next <= sentences.length; next++) {
      const end = sentences[next] ?? count
      if (end - start > MAX_SENTENCE) break
      if (end - start >= MIN_SENTENCE) judge(start, end)
    }
  }
  if (own <= MAX_WHOLE) judge(0, own)
  return { score: best, start: from, end: to }
}

/** Returns the factor of a weight in a stretch with this number of features. */
export const share = (features: number): number => 1 / Math.sqrt(features + RESERVE)

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

const INSTRUCTED = ['instruction', 'prior', 'restraint']

/**
 * Returns the category of a stretch: that of its heaviest signature, or else by its concepts. The
 * model itself only distinguishes attack and harmless.
 */
export function categoryOfJudgement(
  { head, start, end, concepts }: Judgement,
  view: View,
  hits: readonly Hit[],
  source: GuardSource,
): CategoryId {
  const inside = hits.filter((hit) => hit.start < end && hit.end > start)
  const [heaviest] = inside.toSorted((a, b) => b.signature.weight - a.signature.weight)
  if (heaviest) return heaviest.signature.category
  if (view.name === 'hidden') return 'hidden_text'
  if (head === 'embedded') return 'embedded_instruction'
  const has = (...names: string[]) => names.some((name) => concepts.has(name))
  if (has('cast-aside', 'undo') && has(...INSTRUCTED)) return 'instruction_override'
  if (has('reveal') && has('secret', 'system', 'instruction')) return 'prompt_leak'
  if (has('unbound', 'role', 'mode') && has('model', 'you')) return 'jailbreak'
  if (source === 'document' || source === 'tool') return 'indirect_injection'
  if (has('send') && has('data', 'secret', 'file', 'money')) return 'data_exfiltration'
  return has('story', 'harm', 'refusal') ? 'jailbreak' : 'instruction_override'
}

/** Raw scores of the parts of a document by one head, in ascending order. */
type Level = readonly number[]

/** Length and levels that the parts of a document are measured against. */
export interface Standing {
  /** UTF-16 units. */
  readonly length: number
  readonly levels: Readonly<Record<Head, Level>>
}

/** Between these lengths, in UTF-16 units, length costs; an attack in a book must not be free. */
const FREE_LENGTH = 2_000
const COSTLIEST_LENGTH = 5_000
const COST_OF_LENGTH = 0.35
/** The median of ordinary documents: the amount by which that of the other parts exceeds it costs. */
const ORDINARY: Readonly<Record<Head, number>> = { direct: -4.3, embedded: -0.4 }
/** Limits of the contrast: an attacker chooses the padding. */
const MOST = 1.2
const MIN_STANDING_OUT = -1

/** Largest amount that a document can add to a score. */
const MOST_GIVEN = -MIN_STANDING_OUT

/**
 * Returns the amount to subtract from the score of a part. The highest of many scores is high by chance,
 * so length costs. A text about prompts is raised throughout; an injection stands out from the text
 * that it was put into, so the median of the other parts counts, too. `raw` is the part's own score,
 * absent for what is decoded from somewhere in the document.
 */
export function costOf({ length, levels }: Standing, head: Head, raw?: number): number {
  const costly = Math.max(FREE_LENGTH, Math.min(length, COSTLIEST_LENGTH))
  const ofLength = COST_OF_LENGTH * Math.log(costly / FREE_LENGTH)
  const others = medianWithout(levels[head], raw)
  if (others === null) return ofLength
  return ofLength + Math.max(MIN_STANDING_OUT, Math.min(MOST, others - ORDINARY[head]))
}

/** The lower median of all but one of them; null if there are no others. */
function medianWithout(sorted: Level, left?: number): number | null {
  const count = left === undefined ? sorted.length : sorted.length - 1
  const middle = (count - 1) >> 1
  const at = left !== undefined && left <= (sorted[middle] ?? 0) ? middle + 1 : middle
  return count > 0 ? (sorted[at] ?? null) : null
}
