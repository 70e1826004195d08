import { BASIS, step, hashOf } from '../model/tokens.ts'

/** A word of a to z in a text, and true if the vocabulary has it. */
export interface Word {
  readonly start: number
  readonly end: number
  readonly known: boolean
}

/**
 * The words with two letters or more, in order, and statistics that distinguish disguises from
 * ordinary text.
 */
export interface Words {
  readonly all: readonly Word[]
  readonly unknown: number
  /** Length of the longest unknown one. */
  readonly longest: number
  /** Letters that repeat the previous one. */
  readonly doubled: number
  readonly letters: number
  /** Words that end in `ay`. */
  readonly inAy: number
  /** Largest number of consecutive single letters and digits: `i g n o r e`. */
  readonly singles: number
  /** Signs between two words, up to three, the most of them in a row: `ig-no-re`, `ignore.all.rules`. */
  readonly junctions: number
  readonly newlines: number
}

const SPACE = 0x20
const NEWLINE = 0x0a
/** UTF-16 units between two words. */
const MAX_JUNCTION = 6

/** Scans a normalized text once. */
export function wordsOf(text: string, vocabulary: Vocabulary): Words {
  const all: Word[] = []
  let [unknown, longest, doubled, letters, inAy, newlines] = [0, 0, 0, 0, 0, 0]
  let [singles, mostSingles, junctions, mostJunctions] = [0, 0, 0, 0]
  // Ends of the last word, and of the last run of letters and digits.
  let wordEnd = -2
  let runEnd = -1
  for (let at = 0; at < text.length; at++) {
    let unit = text.charCodeAt(at)
    if (unit === SPACE) {
      // One between signs may be an underscore: `ignore-_-all`.
      if (wordEnd === at || isLetter(text.charCodeAt(at + 1))) junctions = 0
      continue
    }
    if (!isLetter(unit)) {
      if (unit === NEWLINE) {
        junctions = 0
        newlines++
      } else if (isFigure(unit)) {
        singles = runEnd === at ? 0 : singles + 1
        if (singles > mostSingles) mostSingles = singles
        runEnd = at + 1
      }
      continue
    }
    const start = at
    let hash = BASIS
    let before = 0
    for (; isLetter(unit); unit = text.charCodeAt(++at)) {
      hash = step(hash, unit)
      if (unit === before) doubled++
      before = unit
    }
    const length = at - start
    letters += length
    const gap = start - wordEnd
    if (gap > 0 && gap <= MAX_JUNCTION && runEnd < start && isSign(text, wordEnd, start)) {
      if (++junctions > mostJunctions) mostJunctions = junctions
    }
    singles = runEnd === start ? 0 : singles + 1
    if (singles > mostSingles) mostSingles = singles
    if (length > 1) singles = 0
    wordEnd = runEnd = at
    at--
    if (length < 2) continue
    if (before === 0x79 && length > 2 && text.charCodeAt(at - 1) === 0x61) inAy++
    const known = vocabulary.hasHash(hash, length)
    if (!known) {
      unknown++
      if (length > longest) longest = length
    }
    all.push({ start, end: at + 1, known })
  }
  return {
    all,
    unknown,
    longest,
    doubled,
    letters,
    inAy,
    singles: mostSingles,
    junctions: mostJunctions,
    newlines,
  }
}

/** Checks that signs, not spaces, are at both ends of the gap. */
const isSign = (text: string, start: number, end: number): boolean =>
  text.charCodeAt(start) > SPACE && text.charCodeAt(end - 1) > SPACE

/** a to z; NaN at the end of the text is none. */
const isLetter = (unit: number): boolean => unit >= 0x61 && unit <= 0x7a

const isFigure = (unit: number): boolean => unit >= 0x30 && unit <= 0x39

const TWO_LETTERS = new Set(
  'of to in is it on at as be by he we or an do if me my no so up us go am ok hi ai'
    .split(' ')
    .map(hashOf),
)
const SLOTS = 1 << 17

/** Known words: normalized, a to z only. */
export class Vocabulary {
  readonly #source: string
  /** Open addressing by hash; 0 is free. With 24,000 words, two in 100,000 others collide. */
  readonly #hashes = new Int32Array(SLOTS)
  #scrambled: ReadonlyMap<string, string> | null = null

  /** One word per line. */
  constructor(source: string) {
    this.#source = source
    let hash = BASIS
    for (let at = 0; at <= source.length; at++) {
      const unit = source.charCodeAt(at)
      if (unit >= 0x61) hash = step(hash, unit)
      else {
        this.#put(hash)
        hash = BASIS
      }
    }
  }

  has(word: string): boolean {
    return this.hasHash(hashOf(word), word.length)
  }

  /** Returns true if a word with this running hash and length is known. */
  hasHash(hash: number, length: number): boolean {
    if (length <= 2) return length === 2 && TWO_LETTERS.has(hash)
    for (let slot = hash & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const found = this.#hashes[slot]
      if (found === hash) return true
      if (found === 0) return false
    }
  }

  #put(hash: number): void {
    let slot = hash & (SLOTS - 1)
    while (this.#hashes[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & (SLOTS - 1)
    this.#hashes[slot] = hash
  }

  /** Returns the known word with these letters, the first and the last in place; null for none. */
  unscrambled(word: string): string | null {
    this.#scrambled ??= new Map(
      this.#source
        .split('\n')
        .filter(({ length }) => length >= 5)
        .map((known) => [scrambleKey(known), known]),
    )
    return this.#scrambled.get(scrambleKey(word)) ?? null
  }

  share(words: readonly string[]): number {
    let known = 0
    let all = 0
    for (const word of words) {
      all += word.length
      if (this.has(word)) known += word.length
    }
    return all === 0 ? 0 : known / all
  }
}

const scrambleKey = (word: string): string =>
  `${word[0]}${Array.from(word.slice(1, -1)).toSorted().join('')}${word.at(-1)}`
