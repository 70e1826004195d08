import { BASIS, hashOf, step } from '../model/hashing.ts'

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

  /** Returns the share of letters in known words. */
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
