import { BASIS, step } from '../model/hashing.ts'
import type { Vocabulary } from './vocabulary.ts'

/** A word of a to z in a text, and whether it is one that the vocabulary knows. */
export interface Word {
  readonly start: number
  readonly end: number
  readonly known: boolean
}

/** The words of two letters and more, in order, and what tells riddles from ordinary text. */
export interface Words {
  readonly all: readonly Word[]
  readonly unknown: number
  readonly longest: number
  /** Letters that repeat the one before. */
  readonly doubled: number
  readonly letters: number
  /** Words that end in `ay`. */
  readonly inAy: number
}

/** Reads a normalized text once. */
export function wordsOf(text: string, vocabulary: Vocabulary): Words {
  const all: Word[] = []
  let unknown = 0
  let longest = 0
  let doubled = 0
  let letters = 0
  let inAy = 0
  for (let at = 0; at < text.length; at++) {
    let unit = text.charCodeAt(at)
    if (!isLetter(unit)) continue
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
    if (length < 2) continue
    if (length > longest) longest = length
    if (before === 0x79 && length > 2 && text.charCodeAt(at - 2) === 0x61) inAy++
    const known = vocabulary.hasHash(hash, length)
    if (!known) unknown++
    all.push({ start, end: at, known })
  }
  return { all, unknown, longest, doubled, letters, inAy }
}

/** a to z; NaN at the end of the text is none. */
const isLetter = (unit: number): boolean => unit >= 0x61 && unit <= 0x7a
