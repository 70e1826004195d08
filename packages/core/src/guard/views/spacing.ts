import { onTop } from '../view.ts'
import type { View } from '../view.ts'
import { readLetters } from './leet.ts'
import { segmented } from './segment.ts'
import type { Vocabulary } from './vocabulary.ts'
import type { Words } from './word-scan.ts'
import { replaced, ViewWriter } from './writer.ts'

const SPACED = /(?<![a-z0-9])(?:[a-z0-9@$!][ .\-*~|/,+\n]{1,2}){4,}[a-z0-9@$!](?![a-z0-9])/g
// One sign makes a compound of two words, like `on-line`.
const DASHED = /(?<![a-z])[a-z]{1,4}(?:[-.*·][a-z]{1,4}){2,8}(?![a-z])/g
/**
 * At least four words with the same sign between them, or the same two or three: `ignore-_-all`, in
 * which normalization made a space of the underscore. Emoji count as the same.
 */
const CHAIN =
  /(?<![a-z])[a-z]{1,20}(?:([-.+/|*~=:^<>#]{1,3}|[-^~*=+.] [-^~*=+.])[a-z]{1,20}(?:\1[a-z]{1,20}){2,60}|(?:(?:\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?){1,3}[a-z]{1,20}){3,60})(?![a-z])/gu
/** Paths and addresses hold fewer letters in known words than sentences do. */
const ORDINARY = 0.9
const SHORTEST_JOINED = 14
const JOINED = /[a-z]{14,200}/g

/** Joins words with separated letters or syllables: `i g n o r e`, `ig-no-re`. */
export function spacedLetters(text: string, seen: Words, vocabulary: Vocabulary): View | null {
  const joined =
    seen.singles < 5
      ? null
      : replaced('spaced_letters', text, SPACED, ([match]) => {
          const letters = match.replace(/[^a-z0-9@$!]/g, '')
          if ((letters.match(/[a-z]/g)?.length ?? 0) * 2 < letters.length) return null
          const read = readLetters(letters)
          return ` ${segmented(read, vocabulary) ?? read} `
        })
  const read = joined?.text ?? text
  const dashed =
    seen.junctions < 1
      ? null
      : replaced('spaced_letters', read, DASHED, ([match]) => {
          const letters = match.replace(/[^a-z]/g, '')
          return letters.length > 4 && vocabulary.has(letters) ? letters : null
        })
  if (!dashed || !joined) return dashed ?? joined
  return onTop(dashed, joined)
}

/** Replaces separator signs by spaces: `ignore.all.previous.rules`. */
export function separators(text: string, seen: Words, vocabulary: Vocabulary): View | null {
  if (seen.junctions < 3) return null
  return replaced('separators', text, CHAIN, ([chain]) => {
    const words = chain.split(/[^a-z]+/)
    return vocabulary.share(words) < ORDINARY ? null : words.join(' ')
  })
}

/** Splits words without spaces: `ignoreallpreviousrules`. */
export const joinedWords = (text: string, words: Words, vocabulary: Vocabulary): View | null =>
  words.longest < SHORTEST_JOINED
    ? null
    : replaced('joined_words', text, JOINED, ([match]) =>
        vocabulary.has(match) ? null : segmented(match, vocabulary),
      )

/** Joins a text with one word per line. */
export function lines(text: string, { all: words, newlines }: Words): View | null {
  if (newlines < 5 || words.length > newlines * 2) return null
  const all = text.split('\n').filter((line) => line.trim() !== '')
  const single = all.filter((line) => !/\S\s+\S/.test(line))
  if (all.length < 6 || single.length < all.length * 0.8) return null
  const writer = new ViewWriter()
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\n') writer.put(' ', at, at + 1)
    else writer.copy(text, at, at + 1)
  }
  return writer.view('lines')
}
