import { foldCharacter } from '../fold.ts'
import { BASIS, step, isUnspaced } from './tokens.ts'

/** The concepts of a word, by number; the list is shared and must not be changed. */
export type Concepts = readonly number[]

const NONE: Concepts = []
const MAX_CACHED = 20_000
const STAR = 0x2a
const SPACE = 0x20

/** Returns the lines of a source with normalized words, the input of `Lexicon`. */
export const foldLexicon = (source: string): string =>
  source
    .split('\n')
    .filter((line) => /^[a-z-]+:/.test(line))
    .map((line) => Array.from(line, (c) => (c === ' ' ? c : foldCharacter(c).text)).join(''))
    .join('\n')

/**
 * Maps words of several languages to concepts: `ignore`, `ignoriere` and `忽略` are all `cast-aside`.
 * Lines of the source are `concept: word word* …`; `*` marks a prefix, and words of scripts without
 * spaces are found inside longer text.
 */
export class Lexicon {
  readonly names: readonly string[]
  readonly #words = new Map<number, number[]>()
  readonly #beginnings = new Map<number, number[]>()
  readonly #parts = new Map<number, number[]>()
  readonly #known = new Map<number, Concepts>()
  #shortest = 24
  #longest = 0
  #longestPart = 0

  constructor(source: string) {
    const names: string[] = []
    for (const line of source.split('\n')) {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon)
      if (!names.includes(name)) names.push(name)
      this.#read(line, colon + 1, names.indexOf(name) + 1)
    }
    this.names = names
  }

  /** Reads the words of a line from `from`, without creating substrings. */
  #read(line: string, from: number, concept: number): void {
    let start = from
    let hash = BASIS
    for (let at = from; at <= line.length; at++) {
      const unit = line.charCodeAt(at)
      if (unit === STAR) continue
      if (at < line.length && unit !== SPACE) {
        if (hash === BASIS) start = at
        hash = step(hash, unit)
        continue
      }
      if (hash !== BASIS) this.#put(line, start, at, hash, concept)
      hash = BASIS
    }
  }

  #put(line: string, start: number, end: number, hash: number, concept: number): void {
    const isBeginning = line.charCodeAt(end - 1) === STAR
    const length = isBeginning ? end - start - 1 : end - start
    let map = this.#words
    if (isUnspaced(line.charCodeAt(start))) {
      map = this.#parts
      this.#longestPart = Math.max(this.#longestPart, length)
    } else if (isBeginning) {
      map = this.#beginnings
      this.#shortest = Math.min(this.#shortest, length)
      this.#longest = Math.max(this.#longest, length)
    }
    const known = map.get(hash)
    if (!known) map.set(hash, [concept])
    else if (!known.includes(concept)) known.push(concept)
  }

  /**
   * Returns the concepts of the word at [start, end) of a normalized text; `hash` is that of the
   * token.
   */
  ofWord(text: string, start: number, end: number, hash: number): Concepts {
    const known = this.#known.get(hash)
    if (known) return known
    let beginning: Concepts = NONE
    let running = BASIS
    const last = Math.min(end - start, this.#longest)
    for (let length = 1; length <= last; length++) {
      running = step(running, text.charCodeAt(start + length - 1))
      if (length >= this.#shortest) beginning = this.#beginnings.get(running) ?? beginning
    }
    const whole = this.#words.get(hash) ?? NONE
    const found =
      beginning.length === 0
        ? whole
        : [...new Set([...whole, ...beginning])].toSorted((a, b) => a - b)
    if (this.#known.size < MAX_CACHED) this.#known.set(hash, found)
    return found
  }

  /** Returns the concepts of the longest entry that starts at `start` of unspaced text. */
  ofPart(text: string, start: number): Concepts {
    let found: Concepts = NONE
    let running = BASIS
    const last = Math.min(text.length, start + this.#longestPart)
    for (let at = start; at < last; at++) {
      running = step(running, text.charCodeAt(at))
      found = this.#parts.get(running) ?? found
    }
    return found
  }
}
