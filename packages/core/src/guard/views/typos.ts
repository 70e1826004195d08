import { BASIS, hashOf, step } from '../model/hashing.ts'
import type { Lexicon } from '../model/lexicon.ts'
import type { WordClasses } from '../model/word-classes.ts'
import type { View } from '../view.ts'
import type { Vocabulary } from './vocabulary.ts'

const SHORTEST = 6
const LONGEST = 16
/** A letter more, or each of them twice. */
const WRITTEN = /(?<![a-z0-9])[a-z]{5,32}(?![a-z0-9])/g
const DOUBLED = /([a-z])\1/g

/**
 * Reads misspelt words that matter to the model: with one letter more, fewer, different or swapped with
 * the next, or with doubled letters. Known words stay as they are.
 */
export class Typos {
  readonly #words = new Map<number, string>()
  /** By the hash of a word without one of its letters. */
  readonly #shorter = new Map<number, string>()
  /** By the word without its doubled letters. */
  readonly #single = new Map<string, string>()
  readonly #source: string
  readonly #lexicon: Lexicon
  readonly #isKnown: (hash: number, length: number) => boolean

  /** Of the vocabulary, one word a line, those with a concept. */
  constructor(source: string, vocabulary: Vocabulary, lexicon: Lexicon, classes: WordClasses) {
    this.#source = source
    this.#lexicon = lexicon
    this.#isKnown = (hash, length) => vocabulary.hasHash(hash, length) || classes.find(hash) >= 0
  }

  /** Reads the vocabulary when the first unknown word appears: it takes some 50 ms. */
  #prepare(): void {
    if (this.#words.size > 0) return
    for (const word of this.#source.split('\n')) {
      if (word.length < SHORTEST || word.length > LONGEST) continue
      const hash = hashOf(word)
      if (this.#lexicon.ofWord(word, 0, word.length, hash).length > 0) this.#put(word, hash)
    }
  }

  #put(word: string, hash: number): void {
    this.#words.set(hash, word)
    for (let i = 0; i < word.length; i++) {
      const shorter = hashWithout(word, i)
      if (!this.#shorter.has(shorter)) this.#shorter.set(shorter, word)
    }
    const single = word.replace(DOUBLED, '$1')
    if (!this.#single.has(single)) this.#single.set(single, word)
  }

  /** The view with those words as they are spelt. */
  read(view: View): View {
    const found: { readonly start: number; readonly end: number; readonly word: string }[] = []
    for (const { 0: written, index } of view.text.matchAll(WRITTEN)) {
      if (this.#isKnown(hashOf(written), written.length)) continue
      const word = this.#meant(written)
      if (word !== null) found.push({ start: index, end: index + written.length, word })
    }
    return found.length === 0 ? view : withWords(view, found)
  }

  #meant(written: string): string | null {
    this.#prepare()
    const meant = this.#oneLetterAway(written) ?? this.#single.get(written.replace(DOUBLED, '$1'))
    return meant === undefined || hasOtherEnding(written, meant) ? null : meant
  }

  #oneLetterAway(written: string): string | undefined {
    if (written.length > LONGEST + 1) return undefined
    const longer = this.#shorter.get(hashOf(written))
    if (longer !== undefined) return longer
    for (let i = 0; i < written.length; i++) {
      const hash = hashWithout(written, i)
      const word = this.#words.get(hash) ?? this.#shorter.get(hash)
      if (word === undefined) continue
      if (word.length < written.length || isOneChange(word, written)) return word
    }
    return undefined
  }
}

/** A plural or another form of a word is no typo. */
const hasOtherEnding = (written: string, word: string): boolean =>
  written.startsWith(word) ||
  (written.startsWith(word.slice(0, -1)) && written.at(-1) !== word.at(-1))

function hashWithout(word: string, left: number): number {
  let hash = BASIS
  for (let at = 0; at < word.length; at++) if (at !== left) hash = step(hash, word.charCodeAt(at))
  return hash
}

/** Of two words of one length: whether they differ in one letter, or in two neighbours swapped. */
function isOneChange(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let from = 0
  while (one[from] === other[from]) from++
  let to = one.length - 1
  while (one[to] === other[to]) to--
  return from === to || (to === from + 1 && one[from] === other[to] && one[to] === other[from])
}

/** Each word stands for all units of what was written; they lead back to the whole of it. */
function withWords(
  view: View,
  words: readonly { readonly start: number; readonly end: number; readonly word: string }[],
): View {
  const grown = words.reduce((sum, { start, end, word }) => sum + word.length - (end - start), 0)
  const starts = new Uint32Array(view.text.length + grown)
  const ends = new Uint32Array(starts.length)
  let text = ''
  let done = 0
  const copy = (to: number) => {
    starts.set(view.starts.subarray(done, to), text.length)
    ends.set(view.ends.subarray(done, to), text.length)
    text += view.text.slice(done, to)
  }
  for (const { start, end, word } of words) {
    copy(start)
    starts.fill(view.starts[start] ?? 0, text.length, text.length + word.length)
    ends.fill(view.ends[end - 1] ?? 0, text.length, text.length + word.length)
    text += word
    done = end
  }
  copy(view.text.length)
  return { ...view, text, starts, ends }
}
