import { normalize } from '../normalize.ts'
import { onTop } from '../view.ts'
import type { View, ViewName } from '../view.ts'
import { findPayloads, readLeet, readLetters } from './disguises.ts'
import { survey } from './survey.ts'
import type { Survey } from './survey.ts'
import { wordsOf } from './word-scan.ts'
import type { Vocabulary, Word, Words } from './word-scan.ts'
import { ViewWriters, replaced, ViewWriter } from './writer.ts'

/** The number of kinds, so that one layer is always read completely. */
const MAX_VIEWS = 24
const MAX_DEPTH = 2
const MAX_DECODED = 12_000

/**
 * Returns the decoded and repaired views of a text, normalized, with positions in the original.
 * Having any is not suspicious by itself.
 */
export function viewsOf(original: string, normalized: View, vocabulary: Vocabulary): View[] {
  return collect(original, normalized, vocabulary, 1).slice(0, MAX_VIEWS)
}

function collect(text: string, normalized: View, vocabulary: Vocabulary, depth: number): View[] {
  const found: View[] = []
  const deeper: View[] = []
  for (const decoded of decodings(text, vocabulary)) {
    const { view } = readLeet(normalize(decoded.text).view, vocabulary)
    found.push({ ...onTop(view, decoded), name: decoded.name })
    if (depth === MAX_DEPTH) continue
    for (const further of collect(decoded.text, view, vocabulary, depth + 1))
      deeper.push(onTop(further, decoded))
  }
  return [...found, ...repairs(normalized, vocabulary), ...deeper]
}

/** Returns the views of encoded text; `text` is the original. */
function decodings(text: string, vocabulary: Vocabulary): View[] {
  const seen = survey(text)
  return [
    ...payloads(text, seen),
    unescaped(text),
    upsideDown(text),
    rotated47(text, seen, vocabulary),
  ].filter((view) => view !== null)
}

function payloads(text: string, seen: Survey): View[] {
  const writers = new ViewWriters()
  for (const { name, text: said, start, end } of findPayloads(text, seen))
    writers.line(name).put(said.slice(0, MAX_DECODED), start, end)
  return writers.views()
}

/** Returns the views of disguised letters in a normalized text. */
function repairs(normalized: View, vocabulary: Vocabulary): View[] {
  const { text } = normalized
  const words = wordsOf(text, vocabulary)
  return [
    spacedLetters(text, words, vocabulary),
    separators(text, words, vocabulary),
    joinedWords(text, words, vocabulary),
    lines(text, words),
    withoutTags(text),
    doubledLetters(text, words),
    scrambledLetters(text, words, vocabulary),
    reversedWords(text),
    pigLatin(text, words, vocabulary),
    ...deciphered(text, words.all, vocabulary),
  ]
    .filter((view) => view !== null)
    .map((view) => onTop(view, normalized))
}

const HINT = /[\\&%=][xu#0-9a-fA-F{]/
const ESCAPE =
  /\\x([0-9a-fA-F]{2})|\\u\{?([0-9a-fA-F]{4,6})\}?|&#x([0-9a-fA-F]{1,6});|&#([0-9]{1,7});|((?:%[0-9a-fA-F]{2})+)|((?:=[0-9A-F]{2})+)|&(lt|gt|amp|quot|apos|nbsp|zwnj|shy);/g
const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  zwnj: '',
  shy: '',
}
const MIN_ESCAPES = 3
const UTF8 = new TextDecoder('utf-8')

/** Decodes `\x41`, `\u0041`, `&#65;`, `%41` and `=41`; null if there are few. */
function unescaped(text: string): View | null {
  if (!HINT.test(text)) return null
  let count = 0
  const view = replaced('escapes', text, ESCAPE, (match) => {
    const [, byte, unit, hexadecimal, decimal, percent, printable, name] = match
    if (name !== undefined) return NAMED[name] ?? null
    count += percent || printable ? (percent ?? printable ?? '').length / 3 : 1
    if (byte !== undefined) return fromCode(Number.parseInt(byte, 16))
    if (unit !== undefined) return fromCode(Number.parseInt(unit, 16))
    if (hexadecimal !== undefined) return fromCode(Number.parseInt(hexadecimal, 16))
    if (decimal !== undefined) return fromCode(Number(decimal))
    const bytes = (percent ?? printable ?? '').replace(/[%=]/g, '')
    return UTF8.decode(Buffer.from(bytes, 'hex'))
  })
  return count >= MIN_ESCAPES ? view : null
}

const fromCode = (code: number): string | null =>
  code <= 0x10ffff ? String.fromCodePoint(code) : null

const MIN_WORDS = 3
const MAX_GAP = 12
const MAX_KNOWN = 1
const SAMPLE = 24
/** Share of letters in known words from which a decoding is accepted. */
const CONVINCING = 0.62
// Logarithms of the frequencies of the letters a to z in English, in thousandths.
const FREQUENCY = [
  82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20,
  1,
].map(Math.log)

interface Run {
  readonly start: number
  readonly end: number
  readonly sample: readonly string[]
}

/** Decodes runs of unknown words by Caesar, Atbash or reversal. The text is normalized. */
function deciphered(text: string, all: readonly Word[], vocabulary: Vocabulary): View[] {
  const writers = new ViewWriters()
  for (const { start, end, sample } of unknownRuns(text, all)) {
    if (vocabulary.share(sample.map(reversed)) >= CONVINCING) {
      const writer = writers.line('reversed')
      for (let at = end - 1; at >= start; at--) writer.copy(text, at, at + 1)
      continue
    }
    const [name, table] = likeliestTable(sample.join(''))
    if (vocabulary.share(sample.map((word) => substitute(word, table))) < CONVINCING) continue
    const writer = writers.line(name)
    for (let at = start; at < end; at++) writer.put(substitute(text.charAt(at), table), at, at + 1)
  }
  return writers.views()
}

function reversed(text: string): string {
  let read = ''
  for (let at = text.length - 1; at >= 0; at--) read += text.charAt(at)
  return read
}

/** Returns runs of unknown words; a single known word does not end a run, two in a row do. */
function unknownRuns(text: string, all: readonly Word[]): Run[] {
  const runs: Run[] = []
  let first = -1
  let last = -1
  const wordIn = (word: Word) => text.slice(word.start, word.end)
  const close = () => {
    if (first < 0) return
    const members = all.slice(first, last + 1)
    const unknown = members.filter((word) => !word.known).length
    const [start, end] = [all[first]?.start ?? 0, all[last]?.end ?? 0]
    if (unknown >= MIN_WORDS)
      runs.push({ start, end, sample: members.slice(0, SAMPLE).map(wordIn) })
    first = -1
  }
  for (const [i, word] of all.entries()) {
    const isFar = word.start - (all[i - 1]?.end ?? 0) > MAX_GAP
    if (isFar || (word.known && i - last > MAX_KNOWN)) close()
    if (word.known) continue
    if (first < 0) first = i
    last = i
  }
  close()
  return runs
}

/** Maps the number of a letter to that of another. */
type Table = readonly number[]

/** Returns the one of the 25 shifts and Atbash whose letter frequencies are closest to English. */
function likeliestTable(letters: string): [ViewName, Table] {
  const counts = new Uint32Array(26)
  for (let at = 0; at < letters.length; at++) {
    const letter = letters.charCodeAt(at) - 97
    counts[letter] = (counts[letter] ?? 0) + 1
  }
  const likeness = (table: Table) => {
    let sum = 0
    for (let from = 0; from < 26; from++)
      sum += (counts[from] ?? 0) * (FREQUENCY[table[from] ?? 0] ?? 0)
    return sum
  }
  let best = ATBASH
  let most = likeness(ATBASH[1])
  for (const shift of SHIFTS) {
    const like = likeness(shift[1])
    if (like <= most) continue
    most = like
    best = shift
  }
  return best
}

const alphabet = Array.from({ length: 26 }, (_, letter) => letter)
const ATBASH: [ViewName, Table] = ['atbash', alphabet.map((letter) => 25 - letter)]
const SHIFTS = alphabet
  .slice(1)
  .map((by): [ViewName, Table] => ['caesar', alphabet.map((letter) => (letter + by) % 26)])

function substitute(text: string, table: Table): string {
  let read = ''
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const to = table[unit - 97]
    read += to === undefined ? text[at] : String.fromCharCode(97 + to)
  }
  return read
}

const MAX_SCRAMBLED = 4_000
const SHORTEST = 5
const LONGEST = 16
const INLINE_TAG = /<\/?(?:b|i|u|s|em|strong|span|font|a|mark|small|sup|sub|code)\b[^<>]{0,80}>/g
const BACK_TO_FRONT =
  /\b(?:instructions?|rules|prompt|guidelines|directives|password|restrictions)\b[^.!?]{0,80}\b(?:ignore|disregard|forget|override|bypass|reveal|print|show|repeat|output)\b/
const PIG_LATIN = /\b([a-z]{1,16})ay\b/g

/** Decodes doubled letters: `iiggnnoorree`. */
function doubledLetters(text: string, { doubled: pairs, letters }: Words): View | null {
  if (pairs < letters * 0.2) return null
  const words = text.match(/[a-z]{4,}/g) ?? []
  const doubled = words.filter((word) => /^(?:([a-z])\1+){2,}$/.test(word))
  if (doubled.length < 2 || doubled.length < words.length * 0.4) return null
  return replaced('doubled_letters', text, /([a-z])\1/g, ([, letter = '']) => letter)
}

/** Decodes words with scrambled letters: `ingroe pervoius`. */
function scrambledLetters(
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
const withoutTags = (text: string): View | null =>
  text.includes('<') ? replaced('tags_removed', text, INLINE_TAG, () => '') : null

/** Reverses the order of the words if that gives an instruction. */
function reversedWords(text: string): View | null {
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
function pigLatin(text: string, words: Words, vocabulary: Vocabulary): View | null {
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
function upsideDown(text: string): View | null {
  if ((text.match(ONLY_TURNED)?.length ?? 0) < MIN_TURNED || text.length > MAX_SCRAMBLED)
    return null
  const writer = new ViewWriter()
  for (let at = text.length - 1; at >= 0; at--)
    writer.put(TURNED.get(text.charAt(at)) ?? text.charAt(at), at, at + 1)
  return writer.view('upside_down')
}

const NON_SPACE = /[!-~]{3,}/g

/** Decodes ROT47: printable ASCII rotated by 47. */
function rotated47(text: string, seen: Survey, vocabulary: Vocabulary): View | null {
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
function spacedLetters(text: string, seen: Words, vocabulary: Vocabulary): View | null {
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
function separators(text: string, seen: Words, vocabulary: Vocabulary): View | null {
  if (seen.junctions < 3) return null
  return replaced('separators', text, CHAIN, ([chain]) => {
    const words = chain.split(/[^a-z]+/)
    return vocabulary.share(words) < ORDINARY ? null : words.join(' ')
  })
}

/** Splits words without spaces: `ignoreallpreviousrules`. */
const joinedWords = (text: string, words: Words, vocabulary: Vocabulary): View | null =>
  words.longest < SHORTEST_JOINED
    ? null
    : replaced('joined_words', text, JOINED, ([match]) =>
        vocabulary.has(match) ? null : segmented(match, vocabulary),
      )

/** Joins a text with one word per line. */
function lines(text: string, { all: words, newlines }: Words): View | null {
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

const LONGEST_WORD = 16
/** Cost of a letter outside of words; a word costs 1, and short ones more. */
const STRAY = 2.5
// Of two segmentations, the one with more frequent words is preferred.
const COMMON = new Set(
  'a i an and are as at be but by can do for from get give have he her his how if in is it its me my no not of on one or our out say she so that the their them then they this to up us was we what when who will with you your'.split(
    ' ',
  ),
)
const COMMON_COST = 0.9
const MAX_LENGTH = 200
/** Two or three words in one are a compound or the name of a function, not a disguise. */
const SPACING_MIN_WORDS = 4

/**
 * Returns joined words with spaces, by the segmentation with the lowest cost; null for too few
 * words.
 */
function segmented(joined: string, vocabulary: Vocabulary): string | null {
  const { length } = joined
  if (length > MAX_LENGTH) return null
  const cost = new Float64Array(length + 1).fill(Infinity)
  const from = new Int32Array(length + 1)
  cost[0] = 0
  for (let end = 1; end <= length; end++) {
    cost[end] = (cost[end - 1] ?? 0) + STRAY
    from[end] = end - 1
    for (let start = Math.max(0, end - LONGEST_WORD); start < end; start++) {
      const least = (cost[start] ?? 0) + COMMON_COST
      if (least >= (cost[end] ?? 0)) continue
      const word = joined.slice(start, end)
      const price = COMMON.has(word) ? least : (cost[start] ?? 0) + 1 + 2 / word.length
      if (price < (cost[end] ?? 0) && vocabulary.has(word)) {
        cost[end] = price
        from[end] = start
      }
    }
  }
  if ((cost[length] ?? Infinity) > length * 0.45) return null
  const words: string[] = []
  for (let end = length; end > 0; end = from[end] ?? 0) words.push(joined.slice(from[end], end))
  return words.length < SPACING_MIN_WORDS ? null : words.toReversed().join(' ')
}
