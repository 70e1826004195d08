export const Kind = { word: 0, number: 1, ideograph: 2, sign: 3, line: 4 } as const

/** Classes of units: the numbers above, and two for characters between tokens. */
const SPACE = 5
const MARK_OF_WORD = 6
const APOSTROPHE = 0x27
const MAX_HASHED = 24
const MAX_RUN = 3
/** UTF-16 units for each token behind a part. */
const MAX_BEHIND = 12

const LETTERS = [
  [0x61, 0x7a],
  [0xaa, 0xaa],
  [0xba, 0xba],
  [0xc0, 0xd6],
  [0xd8, 0xf6],
  [0xf8, 0x2af],
  [0x370, 0x1fff],
  [0x2c00, 0x2dff],
  [0xa640, 0xabff],
  [0xfb00, 0xfdff],
  [0xfe70, 0xfefc],
]
/** Scripts without spaces between words: every unit is a token. */
const UNSPACED = [
  [0xe00, 0xeff],
  [0x1000, 0x109f],
  [0x1780, 0x17ff],
  [0x3005, 0x3007],
  [0x3040, 0x30ff],
  [0x3400, 0x9fff],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
]
const SIGNS = [0x37e, 0x387, 0x60c, 0x61b, 0x61f, 0x6d4, 0x964, 0x965]

/** Signs that end a sentence before a blank. */
const ENDS = new Set(Array.from('.!?:\u061f\u06d4\u0964', (sign) => sign.charCodeAt(0)))

/** The class of every UTF-16 unit. */
const CLASS = new Uint8Array(0x10000).fill(Kind.sign)
for (const [first = 0, last = 0] of LETTERS) CLASS.fill(Kind.word, first, last + 1)
for (const [first = 0, last = 0] of UNSPACED) CLASS.fill(Kind.ideograph, first, last + 1)
for (const unit of SIGNS) CLASS[unit] = Kind.sign
CLASS.fill(Kind.number, 0x30, 0x3a)
CLASS[0x20] = SPACE
CLASS[0x09] = SPACE
CLASS[0x0d] = SPACE
CLASS[0x0a] = Kind.line
CLASS[APOSTROPHE] = MARK_OF_WORD

/** Returns true for a unit of a script without spaces. */
export const isUnspaced = (unit: number): boolean => CLASS[unit] === Kind.ideograph

/** The tokens of a stretch of text; elements from `count` on are scratch space. */
export class Tokens {
  count = 0
  /** So many of them begin in the part that was read; the others follow it. */
  own = 0
  #last = 0
  #sentenceCount = 0
  #begins = true
  readonly #sentences: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly kinds: Uint8Array
  /** Hashes of the text for words and ideographs, of the length for numbers and signs. */
  readonly hashes: Int32Array

  constructor(capacity: number) {
    this.starts = new Int32Array(capacity)
    this.ends = new Int32Array(capacity)
    this.kinds = new Uint8Array(capacity)
    this.hashes = new Int32Array(capacity)
    this.#sentences = new Int32Array(capacity)
  }

  /** The tokens at which a line or a sentence begins, in order; valid until the next `read`. */
  get sentences(): Int32Array {
    return this.#sentences.subarray(0, this.#sentenceCount)
  }

  /**
   * Reads the part [from, to) of a normalized text and up to `further` tokens behind it, as far as the
   * capacity goes.
   */
  read(text: string, from: number, to = text.length, further = 0): void {
    const capacity = this.starts.length
    this.#last = Math.min(text.length, to + further * MAX_BEHIND)
    this.count = 0
    this.own = 0
    this.#sentenceCount = 0
    this.#begins = true
    let at = from
    while (at < this.#last && this.count < capacity) {
      if (at < to) this.own = this.count + 1
      else if (this.count >= this.own + further) break
      const unit = text.charCodeAt(at)
      const start = at++
      const kind = CLASS[unit] ?? SPACE
      if (kind === SPACE) continue
      if (kind === Kind.word) at = this.#word(text, start, unit)
      else if (kind === Kind.ideograph) this.#add(start, at, kind, step(BASIS, unit))
      else if (kind === Kind.number) at = this.#number(text, start)
      else at = this.#run(text, start, unit, kind === Kind.line ? Kind.line : Kind.sign)
    }
    this.own = Math.min(this.own, this.count)
  }

  #word(text: string, start: number, first: number): number {
    let hash = step(BASIS, first)
    let at = start + 1
    for (; at < this.#last; at++) {
      const unit = text.charCodeAt(at)
      const kind = CLASS[unit]
      if (kind !== Kind.word) {
        const goesOn = kind === MARK_OF_WORD && CLASS[text.charCodeAt(at + 1)] === Kind.word
        if (!goesOn) break
      }
      if (at - start < MAX_HASHED) hash = step(hash, unit)
    }
    this.#add(start, at, Kind.word, hash)
    return at
  }

  #number(text: string, start: number): number {
    let at = start + 1
    while (CLASS[text.charCodeAt(at)] === Kind.number && at < this.#last) at++
    this.#add(start, at, Kind.number, step(step(BASIS, 0x23), Math.min(6, at - start)))
    return at
  }

  #run(text: string, start: number, unit: number, kind: number): number {
    let at = start + 1
    while (at < this.#last && text.charCodeAt(at) === unit) at++
    // Every emoji is one and the same sign.
    const sign = unit >= 0x2000 ? 0x2605 : unit
    this.#add(start, at, kind, step(step(BASIS, sign), Math.min(MAX_RUN, at - start)))
    this.#begins = kind === Kind.line || (ENDS.has(unit) && isBlank(text.charCodeAt(at)))
    return at
  }

  #add(start: number, end: number, kind: number, hash: number): void {
    const i = this.count++
    this.starts[i] = start
    this.ends[i] = end
    this.kinds[i] = kind
    this.hashes[i] = hash
    if (!this.#begins || kind === Kind.line) return
    this.#sentences[this.#sentenceCount++] = i
    this.#begins = false
  }
}

const isBlank = (unit: number): boolean => unit === 0x20 || unit === 0x0a

/** The start of a 32-bit hash of a word or a combination: FNV-1a with the finalizer of MurmurHash3. */
export const BASIS = 0x811c9dc5 | 0
const PRIME = 0x01000193

/** Adds one UTF-16 unit to a running hash. */
export const step = (hash: number, unit: number): number => Math.imul(hash ^ unit, PRIME)

/** Returns the running hash of a whole word. */
export function hashOf(text: string): number {
  let hash = BASIS
  for (let at = 0; at < text.length; at++) hash = step(hash, text.charCodeAt(at))
  return hash
}

/** Spreads a running hash over all bits. */
export function finalMix(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Combines two hashes; the order matters. */
export const combine = (first: number, second: number): number =>
  Math.imul(Math.imul(first, 0x9e3779b1) ^ second, 0x7feb352d) ^ (first >>> 15)
