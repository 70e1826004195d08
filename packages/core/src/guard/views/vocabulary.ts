const TWO_LETTERS = new Set(
  'of to in is it on at as be by he we or an do if me my no so up us go am ok hi ai'.split(' '),
)

/** Words that are no cipher and no riddle: normalized, a to z only. */
export class Vocabulary {
  readonly #words: ReadonlySet<string>
  #scrambled: ReadonlyMap<string, string> | null = null

  /** One word a line. */
  constructor(source: string) {
    this.#words = new Set(source.split('\n'))
  }

  has(word: string): boolean {
    return word.length > 2 ? this.#words.has(word) : TWO_LETTERS.has(word)
  }

  /** The word that has these letters with the first and the last in their places; null for none. */
  unscrambled(word: string): string | null {
    this.#scrambled ??= new Map(
      Array.from(this.#words)
        .filter(({ length }) => length >= 5)
        .map((known) => [scrambleKey(known), known]),
    )
    return this.#scrambled.get(scrambleKey(word)) ?? null
  }

  /** The share of letters that stand in known words. */
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
