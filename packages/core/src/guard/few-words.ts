import { wordLikeness } from './word-like.ts'

/** Scripts without capitals often have no spaces either: two of their letters count as a word. */
const WORD = /\p{Lo}{2}|\p{L}{4,}/gu
/** Few words of an instruction are below; of short runs of random letters, all but one in 25. */
const LEAST = 5

/** Returns true for at most so many words of four letters or more; random letters are none. Linear. */
export function hasFewWords(text: string, most: number): boolean {
  let words = 0
  for (const [word] of text.matchAll(WORD))
    if (wordLikeness(word.toLowerCase()) >= LEAST && ++words > most) return false
  return true
}

const NAME = /\p{Lo}{1,2}|\p{L}+/gu
const MAX_NAMES = 4

/** Returns true for a host and path with too few names, of any length, to be a sentence. */
export const hasFewNames = (place: string): boolean => (place.match(NAME)?.length ?? 0) <= MAX_NAMES
