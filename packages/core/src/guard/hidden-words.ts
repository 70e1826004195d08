import { wordLikeness } from './word-like.ts'

/** Scripts without capitals often have no spaces either: two of their letters count as a word. */
const WORD = /\p{Lo}{2}|\p{L}{4,}/gu
/** Few words of an instruction are below; of short runs of random letters, all but one in 25. */
const LEAST = 5
const NAME = /\p{Lo}{1,2}|\p{L}+/gu

/** The words of four letters or more; random letters are none. Linear. */
export const wordsIn = (text: string): string[] =>
  (text.toLowerCase().match(WORD) ?? []).filter((word) => wordLikeness(word) >= LEAST)

/** All runs of letters, of any length. */
export const namesIn = (text: string): string[] => text.toLowerCase().match(NAME) ?? []
