import type { Hit } from '../signature.ts'
import { BASIS, combine, finalMix, hashOf, Kind, step } from './tokens.ts'
import type { Tokens } from './tokens.ts'
import type { Concepts, Lexicon } from './lexicon.ts'

/** The kind of a feature; each kind has its own part of the hash space. */
const Salt = {
  word: 0x1b56c4e9,
  pair: 0x2f2f1d3d,
  skipped: 0x3c6ef372,
  quad: 0x4a7484aa,
  concept: 0x5cb0a9dc,
  near: 0x6f9d2bd7,
  conceptPair: 0x71374491,
  triple: 0x12835b01,
  mixed: 0x243185be,
  signature: 0x550c7dc3,
  category: 0x72be5d74,
  sense: 0x80deb1fe,
  sensePair: 0x9bdc06a7,
  senseSkipped: 0xc19bf174,
  kind: 0xe49b69c1,
  kindPair: 0xefbe4786,
  kindSkipped: 0x0fc19dc6,
  opening: 0x240ca1cc,
  openingPair: 0x2de92c6f,
  openingConcept: 0x4a7484ab,
} as const

// A single sign between two words does not separate them: "i-g.n,o-r-e", "all: the rules".
const LIGHT = new Set(
  Array.from(`,;:_-~*|."'\`>#`, (sign) => combine(BASIS, sign.charCodeAt(0)) | 0),
)
const REACH_OF_PAIR = 7
const REACH_OF_TRIPLE = 9
const MAX_REMEMBERED = 8

export const FEATURE_BITS = 19
const MASK = (1 << FEATURE_BITS) - 1

/**
 * The features of a stretch of text: words, pairs of words with and without one left out, concepts
 * alone and near each other, signatures, in texts of users the classes of words, and in documents the
 * words that open a sentence. Each belongs to the token at which it ends. One instance is used again
 * and again; what it holds is valid until the next `extract`.
 */
export class Features {
  /** All features, token by token. */
  ids = new Uint32Array(1 << 14)
  /**
   * The features of token `i` are `ids[ends[i - 1]]` to `ids[ends[i]]`, shifted by one: `ends[0]`
   * is 0.
   */
  readonly ends: Uint32Array
  #size = 0
  readonly #lexicon: Lexicon
  readonly #classes: WordClasses
  readonly #near: { at: number; concept: number }[] = []

  constructor(lexicon: Lexicon, classes: WordClasses, capacity: number) {
    this.#lexicon = lexicon
    this.#classes = classes
    this.ends = new Uint32Array(capacity + 1)
  }

  /** `hits` are the matching signatures of the text, in order. */
  extract(text: string, tokens: Tokens, isDocument: boolean, hits: readonly Hit[]): void {
    const context = isDocument ? 1 : 0
    this.#size = 0
    this.#near.length = 0
    let before = BASIS
    let twoBefore = BASIS
    let threeBefore = BASIS
    let conceptBefore = 0
    let placeBefore = -1
    let placeTwoBefore = -1
    const { sentences } = tokens
    let nextSentence = 0
    let isOpening = false
    let opening = 0
    let nextHit = firstEndingAfter(hits, tokens.starts[0] ?? 0)
    for (let i = 0; i < tokens.count; i++) {
      if (this.#size + 512 > this.ids.length) this.#grow()
      const start = tokens.starts[i] ?? 0
      const end = tokens.ends[i] ?? 0
      const hash = tokens.hashes[i] ?? 0
      const kind = tokens.kinds[i]
      for (let hit = hits[nextHit]; hit && hit.start < end; hit = hits[++nextHit])
        this.#addSignature(hit, context)
      this.#add(Salt.word, hash)
      if (i === sentences[nextSentence]) {
        nextSentence++
        isOpening = true
        opening = 0
      }
      // An order begins with its verb, a question with its pronoun.
      if (isDocument && kind === Kind.word) {
        if (isOpening) {
          this.#add(Salt.opening, hash)
          for (const concept of this.#lexicon.ofWord(text, start, end, hash))
            this.#add(Salt.openingConcept, concept)
          opening = hash
          isOpening = false
        } else if (opening !== 0) {
          this.#add(Salt.openingPair, combine(opening, hash))
          opening = 0
        }
      }
      if (kind !== Kind.sign || end - start > 1 || !isLight(text.charCodeAt(start))) {
        this.#add(Salt.pair, combine(before, hash))
        if (i > 1) this.#add(Salt.skipped, combine(twoBefore, hash))
        if (kind === Kind.ideograph && i > 2)
          this.#add(Salt.quad, combine(combine(threeBefore, twoBefore), combine(before, hash)))
        const concepts =
          kind === Kind.word
            ? this.#lexicon.ofWord(text, start, end, hash)
            : kind === Kind.ideograph
              ? this.#lexicon.ofPart(text, start)
              : null
        // In documents they cost more recall than they bring.
        if (!isDocument && kind === Kind.word) {
          const place = this.#classes.find(hash)
          if (place >= 0) this.#addClasses(place, placeBefore, placeTwoBefore)
          placeTwoBefore = placeBefore
          placeBefore = place
        }
        if (conceptBefore > 0) this.#add(Salt.mixed, combine(conceptBefore, hash))
        conceptBefore = 0
        if (concepts && concepts.length > 0) {
          this.#addConcepts(i, concepts, context)
          conceptBefore = concepts[0] ?? 0
          this.#add(Salt.mixed, combine(before, conceptBefore + 0x1000))
        }
        threeBefore = twoBefore
        twoBefore = before
        before = hash
      }
      this.ends[i + 1] = this.#size
    }
  }

  #addClasses(place: number, before: number, twoBefore: number): void {
    const classes = this.#classes
    const sense = classes.sense(place)
    const kind = classes.kind(place)
    if (sense > 0) {
      const [first, second] = [classes.sense(before), classes.sense(twoBefore)]
      this.#add(Salt.sense, sense)
      if (first > 0) this.#add(Salt.sensePair, combine(first, sense))
      if (second > 0) this.#add(Salt.senseSkipped, combine(second, sense))
    }
    if (kind > 0) {
      const [first, second] = [classes.kind(before), classes.kind(twoBefore)]
      this.#add(Salt.kind, kind)
      if (first > 0) this.#add(Salt.kindPair, combine(first, kind))
      if (second > 0) this.#add(Salt.kindSkipped, combine(second, kind))
    }
  }

  #addConcepts(at: number, concepts: Concepts, context: number): void {
    const near = this.#near
    for (const concept of concepts) {
      this.#add(Salt.concept, concept * 2 + context)
      for (let i = near.length - 1; i >= 0; i--) {
        const first = near[i]
        if (!first || at - first.at > REACH_OF_PAIR) break
        if (first.at === at) continue
        const distance = at - first.at
        const pair = first.concept * 64 + concept
        const bucket = distance <= 1 ? 0 : distance <= 3 ? 1 : 2
        this.#add(Salt.near, pair * 4 + bucket)
        if (bucket < 2) this.#add(Salt.conceptPair, pair * 2 + context)
        for (let j = i - 1; j >= 0; j--) {
          const earlier = near[j]
          if (!earlier || at - earlier.at > REACH_OF_TRIPLE) break
          if (earlier.at !== first.at) this.#add(Salt.triple, earlier.concept * 4096 + pair)
        }
      }
    }
    for (const concept of concepts) near.push({ at, concept })
    if (near.length > MAX_REMEMBERED) near.splice(0, near.length - MAX_REMEMBERED)
  }

  #addSignature({ signature }: Hit, context: number): void {
    const id = hashOf(signature.id)
    const category = hashOf(signature.category) + context
    for (let weight = 0; weight < 2; weight++) {
      this.#add(Salt.signature + weight, id)
      this.#add(Salt.signature + weight + 2, id)
      this.#add(Salt.category + weight, category)
    }
  }

  #add(salt: number, value: number): void {
    this.ids[this.#size++] = finalMix(combine(salt, value)) & MASK
  }

  #grow(): void {
    const larger = new Uint32Array(this.ids.length * 2)
    larger.set(this.ids)
    this.ids = larger
  }
}

/** The first hit that reaches beyond a place of the text; hits are in its order. */
function firstEndingAfter(hits: readonly Hit[], place: number): number {
  let low = 0
  let high = hits.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((hits[middle]?.start ?? 0) < place) low = middle + 1
    else high = middle
  }
  while (low > 0 && (hits[low - 1]?.end ?? 0) > place) low--
  return low
}

const isLight = (unit: number): boolean => LIGHT.has(combine(BASIS, unit) | 0)

const SLOTS = 1 << 16
const WORD_CLASSES_MASK = SLOTS - 1
const LINE = 0x0a
const SPACE = 0x20

/**
 * Classes of English words: the first sense of a word in WordNet, shared by its synonyms, and the kind
 * of thing that this sense is. `steer` and `direct` share the first, `table` and `chair` the second.
 */
export class WordClasses {
  /** Open addressing by hash; 0 is free. */
  readonly #hashes = new Int32Array(SLOTS)
  readonly #senses = new Uint16Array(SLOTS)
  readonly #kinds = new Uint16Array(SLOTS)

  /** A line per word: the word, its sense and its kind as decimal numbers; 0 is none. */
  constructor(source: string) {
    let hash = BASIS
    let sense = 0
    let number = 0
    for (let at = 0; at < source.length; at++) {
      const unit = source.charCodeAt(at)
      if (unit >= 0x61) hash = step(hash, unit)
      else if (unit >= 0x30) number = number * 10 + unit - 0x30
      else if (unit === SPACE) {
        sense = number
        number = 0
      } else if (unit === LINE) {
        this.#put(hash, sense, number)
        hash = BASIS
        number = 0
      }
    }
  }

  /** The index of the classes of a word with this hash; -1 for a word without any. */
  find(hash: number): number {
    for (let slot = hash & WORD_CLASSES_MASK; ; slot = (slot + 1) & WORD_CLASSES_MASK) {
      const found = this.#hashes[slot]
      if (found === hash) return slot
      if (found === 0) return -1
    }
  }

  /** 0 for a word without; `place` may be that of no word. */
  sense(place: number): number {
    return this.#senses[place] ?? 0
  }

  kind(place: number): number {
    return this.#kinds[place] ?? 0
  }

  #put(hash: number, sense: number, kind: number): void {
    let slot = hash & WORD_CLASSES_MASK
    while (this.#hashes[slot] !== 0 && this.#hashes[slot] !== hash)
      slot = (slot + 1) & WORD_CLASSES_MASK
    this.#hashes[slot] = hash
    this.#senses[slot] = sense
    this.#kinds[slot] = kind
  }
}
