import { foldCharacter } from '../fold.ts'
import { BASIS, hashOf, step } from './hashing.ts'
import { isUnspaced } from './tokens.ts'

/** The concepts of a word, by number; the list is shared, never change it. */
export type Concepts = readonly number[]

const NONE: Concepts = []
const MAX_CACHED = 20_000

/** The lines of a source with their words as detectors read them; what `Lexicon` takes. */
export const foldLexicon = (source: string): string =>
  source
    .split('\n')
    .filter((line) => /^[a-z-]+:/.test(line))
    .map((line) => Array.from(line, (c) => (c === ' ' ? c : foldCharacter(c).text)).join(''))
    .join('\n')

/**
 * Which concepts a word of some language stands for: `ignore`, `ignoriere` and `忽略` are all
 * `cast-aside`. Lines of the source are `concept: word word* …`; `*` makes it a beginning, and words
 * of scripts without spaces are found inside longer text.
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
    const lines = source.split('\n')
    this.names = [...new Set(lines.map((line) => line.slice(0, line.indexOf(':'))))]
    for (const line of lines) {
      const colon = line.indexOf(':')
      const concept = this.names.indexOf(line.slice(0, colon)) + 1
      for (const entry of line.slice(colon + 1).split(/\s+/)) if (entry) this.#add(entry, concept)
    }
  }

  #add(entry: string, concept: number): void {
    const isBeginning = entry.endsWith('*')
    const folded = Array.from(
      isBeginning ? entry.slice(0, -1) : entry,
      (c) => foldCharacter(c).text,
    )
    const word = folded.join('')
    const put = (map: Map<number, number[]>) => {
      const known = map.get(hashOf(word)) ?? []
      if (!known.includes(concept)) map.set(hashOf(word), [...known, concept])
    }
    if (isUnspaced(word.charCodeAt(0))) {
      put(this.#parts)
      this.#longestPart = Math.max(this.#longestPart, word.length)
    } else if (isBeginning) {
      put(this.#beginnings)
      this.#shortest = Math.min(this.#shortest, word.length)
      this.#longest = Math.max(this.#longest, word.length)
    } else put(this.#words)
  }

  /** Of the word at [start, end) of a normalized text; `hash` is that of the token. */
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

  /** Of the longest part that begins at `start` of unspaced text. */
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
