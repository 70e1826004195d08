import type { View } from '../view.ts'
import type { Survey } from './survey.ts'
import type { Vocabulary } from './vocabulary.ts'
import type { Words } from './word-scan.ts'
import { replaced, ViewWriter } from './writer.ts'

const MAX_SCRAMBLED = 4_000
const SHORTEST = 5
const LONGEST = 16
const INLINE_TAG = /<\/?(?:b|i|u|s|em|strong|span|font|a|mark|small|sup|sub|code)\b[^<>]{0,80}>/g
const BACK_TO_FRONT =
  /\b(?:instructions?|rules|prompt|guidelines|directives|password|restrictions)\b[^.!?]{0,80}\b(?:ignore|disregard|forget|override|bypass|reveal|print|show|repeat|output)\b/
const PIG_LATIN = /\b([a-z]{1,16})ay\b/g

/** Decodes doubled letters: `iiggnnoorree`. */
export function doubledLetters(text: string, { doubled: pairs, letters }: Words): View | null {
  if (pairs < letters * 0.2) return null
  const words = text.match(/[a-z]{4,}/g) ?? []
  const doubled = words.filter((word) => /^(?:([a-z])\1+){2,}$/.test(word))
  if (doubled.length < 2 || doubled.length < words.length * 0.4) return null
  return replaced('doubled_letters', text, /([a-z])\1/g, ([, letter = '']) => letter)
}

/** Decodes words with scrambled letters: `ingroe pervoius`. */
export function scrambledLetters(
  text: string,
  { all, unknown: count }: Words,
  vocabulary: Vocabulary,
): View | null {
  if (count < 2 || text.length > MAX_SCRAMBLED) return null
  const unknown = all.filter(
    ({ known, start, end }) => !known && end - start >= SHORTEST && end - start <= LONGEST,
  )
  const solved = new Map(
    unknown.flatMap((word): [number, string][] => {
      const read = vocabulary.unscrambled(text.slice(word.start, word.end))
      return read === null ? [] : [[word.start, read]]
    }),
  )
  if (solved.size < 2 || solved.size * 2 <= unknown.length) return null
  return replaced(
    'scrambled_letters',
    text,
    /[a-z]{5,16}/g,
    ({ index = 0 }) => solved.get(index) ?? null,
  )
}

/** Removes invisible tags inside of words: `ig<b></b>nore`. */
export const withoutTags = (text: string): View | null =>
  text.includes('<') ? replaced('tags_removed', text, INLINE_TAG, () => '') : null

/** Reverses the order of the words if that gives an instruction. */
export function reversedWords(text: string): View | null {
  const match = BACK_TO_FRONT.exec(text)
  if (!match) return null
  const start = Math.max(0, match.index - 200)
  const end = Math.min(text.length, match.index + match[0].length + 200)
  const words = [...text.slice(start, end).matchAll(/\S+/g)].toReversed()
  const writer = new ViewWriter()
  for (const { 0: word, index } of words) {
    writer.copy(text, start + index, start + index + word.length)
    writer.put(' ', start + index, start + index + word.length)
  }
  return writer.view('reversed_words')
}

/** Decodes pig Latin: `ignoreway allway eviouspray`. */
export function pigLatin(text: string, words: Words, vocabulary: Vocabulary): View | null {
  if (words.inAy < 4 || words.inAy < words.all.length * 0.4) return null
  return replaced('pig_latin', text, PIG_LATIN, ([word, stem = '']) => {
    if (vocabulary.has(word)) return null
    // Up to three letters were moved to the end; `way` after a vowel means none.
    const readings = [
      stem.replace(/w$/, ''),
      ...[1, 2, 3].map((n) => stem.slice(-n) + stem.slice(0, -n)),
    ]
    return readings.find((read) => vocabulary.has(read)) ?? null
  })
}

// An upside-down letter, and the letter itself.
const TURNED = new Map(
  'ɐa ɔc ǝe ɟf ƃg ɓg ɥh ᴉi ıi ɾj ʞk ɯm ɹr ʇt ʌv ʍw ʎy ∀a Ɔc Ǝe Ⅎf ſj ˥l Ɯm ┴t ∩u Λv ⅄y nu un bq qb dp pd mw wm'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.charAt(1)]),
)
const ONLY_TURNED = /[ɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎ]/g
const MIN_TURNED = 4

/** Decodes upside-down letters in a reversed line. */
export function upsideDown(text: string): View | null {
  if ((text.match(ONLY_TURNED)?.length ?? 0) < MIN_TURNED || text.length > MAX_SCRAMBLED)
    return null
  const writer = new ViewWriter()
  for (let at = text.length - 1; at >= 0; at--)
    writer.put(TURNED.get(text.charAt(at)) ?? text.charAt(at), at, at + 1)
  return writer.view('upside_down')
}

const NON_SPACE = /[!-~]{3,}/g

/** Decodes ROT47: printable ASCII rotated by 47. */
export function rotated47(text: string, seen: Survey, vocabulary: Vocabulary): View | null {
  if (seen.signs < text.length * 0.12) return null
  const words = text.match(NON_SPACE) ?? []
  const odd = words.filter((word) => /[^\w\s'".,!?-]/.test(word.slice(1, -1)))
  if (odd.length < 3 || odd.length < words.length * 0.5) return null
  const turn = (word: string) =>
    word.replace(/[!-~]/g, (c) => String.fromCharCode(33 + ((c.charCodeAt(0) - 33 + 47) % 94)))
  const read = odd.slice(0, 24).map((word) =>
    turn(word)
      .toLowerCase()
      .replace(/[^a-z]/g, ''),
  )
  if (vocabulary.share(read) < 0.62) return null
  return replaced('rot47', text, /[!-~]+/g, ([word]) => turn(word))
}
