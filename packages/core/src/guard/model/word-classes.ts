import { BASIS, step } from './hashing.ts'

const SLOTS = 1 << 16
const MASK = SLOTS - 1
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
    for (let slot = hash & MASK; ; slot = (slot + 1) & MASK) {
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
    let slot = hash & MASK
    while (this.#hashes[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & MASK
    this.#hashes[slot] = hash
    this.#senses[slot] = sense
    this.#kinds[slot] = kind
  }
}
