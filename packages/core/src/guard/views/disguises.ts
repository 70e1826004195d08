import { isUtf8 } from 'node:buffer'
import type { ViewName, View } from '../view.ts'
import type { Survey } from './survey.ts'
import { BASIS, hashOf, step } from '../model/tokens.ts'
import type { Vocabulary } from './word-scan.ts'
import type { Lexicon } from '../model/lexicon.ts'
import type { WordClasses } from '../model/features.ts'

/** A span [start, end) of the original and its decoded text. */
export interface Payload {
  readonly name: ViewName
  readonly text: string
  readonly start: number
  readonly end: number
}

const MIN_TEXT = 6

interface Encoding {
  readonly name: ViewName
  /** The pattern of texts in this encoding; scanned from left to right, each unit once. */
  readonly pattern: RegExp
  readonly isPossible: (seen: Survey) => boolean
  readonly decode: (match: string) => string | null
}

const NUMBER_UP_TO_127 = String.raw`(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])`

const ENCODINGS: readonly Encoding[] = [
  {
    name: 'hex',
    pattern: /(?<![0-9a-zA-Z])(?:0x)?(?:[0-9a-fA-F]{2}){8,}(?![0-9a-zA-Z])/g,
    isPossible: ({ hex }) => hex >= 16,
    decode: (match) => fromBytes(Buffer.from(match.replace(/^0x/, ''), 'hex')),
  },
  {
    name: 'hex',
    pattern:
      /(?<![0-9a-zA-Z])(?:0x)?[0-9a-fA-F]{2}(?:[ ,:]{1,2}(?:0x)?[0-9a-fA-F]{2}){7,}(?![0-9a-zA-Z])/g,
    isPossible: ({ hex }) => hex >= 16,
    decode: (match) => fromBytes(Buffer.from(match.replace(/0x|[ ,:]/g, ''), 'hex')),
  },
  {
    name: 'base32',
    pattern: /(?<![0-9a-zA-Z])[A-Z2-7]{16,}={0,6}(?![0-9a-zA-Z])/g,
    isPossible: ({ base32 }) => base32 >= 16,
    decode: fromBase32,
  },
  {
    name: 'base64',
    pattern: /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*={0,2}/g,
    // Long words and paths of lower-case letters are skipped.
    isPossible: ({ base64 }) => base64 >= 16,
    decode: (match) => (/[A-Z0-9]/.test(match) ? fromBytes(Buffer.from(match, 'base64')) : null),
  },
  {
    name: 'binary',
    pattern: /(?<!\d)[01]{8}(?:[ ,]?[01]{8}){5,}(?!\d)/g,
    isPossible: ({ bits }) => bits >= 48,
    decode: (match) => fromNumbers(match.match(/[01]{8}/g), 2),
  },
  {
    name: 'octal',
    pattern: /(?<![\d\\])\\?[01][0-7]{2}(?:[ ,\\]{1,2}[01]?[0-7]{2}){7,}(?!\d)/g,
    isPossible: ({ numbers }) => numbers >= 8,
    decode: (match) => fromNumbers(match.match(/[0-7]{2,3}/g), 8),
  },
  {
    name: 'decimal',
    pattern: new RegExp(
      String.raw`(?<!\d)${NUMBER_UP_TO_127}(?:[ ,]{1,2}${NUMBER_UP_TO_127}){7,}(?!\d)`,
      'g',
    ),
    isPossible: ({ numbers }) => numbers >= 8,
    decode: (match) => fromNumbers(match.match(/\d+/g), 10),
  },
  {
    name: 'a1z26',
    pattern: /(?<!\d)\d{1,2}(?:[-. ]\d{1,2}){4,}(?:[ ,/|]{1,3}\d{1,2}(?:[-.]\d{1,2})*)*(?!\d)/g,
    isPossible: ({ numbers }) => numbers >= 5,
    decode: fromLetterNumbers,
  },
  {
    name: 'morse',
    pattern: /(?<![.\-\w])[.-]{1,5}(?:(?: \/ |[ /])[.-]{1,5}){7,}(?![.\-\w])/g,
    isPossible: ({ morse }) => morse >= 8,
    decode: fromMorse,
  },
  {
    name: 'braille',
    pattern: /[\u2800-\u283f](?:[ \u2800-\u283f]){5,}/g,
    isPossible: ({ dots }) => dots,
    decode: fromBraille,
  },
]

/**
 * Returns every encoded payload that decodes to readable text. Linear, because attempts do not
 * overlap; a limit on the attempts would let a few paths and hashes hide later payloads.
 */
export function findPayloads(text: string, seen: Survey): Payload[] {
  const found: Payload[] = []
  for (const { name, pattern, isPossible, decode } of ENCODINGS) {
    if (!isPossible(seen)) continue
    for (const match of text.matchAll(pattern)) {
      const decoded = decode(match[0])
      if (decoded === null || !isReadable(decoded)) continue
      found.push({ name, text: decoded, start: match.index, end: match.index + match[0].length })
    }
  }
  return found
}

/** Returns true for mostly letters and spaces, and hardly any non-printing characters. */
function isReadable(text: string): boolean {
  if (text.length < MIN_TEXT) return false
  let printable = 0
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0x20 ? unit < 0x7f || unit >= 0xa0 : unit === 9 || unit === 10 || unit === 13)
      printable++
    if (((unit | 32) >= 0x61 && (unit | 32) <= 0x7a) || unit >= 0xc0) letters++
  }
  return printable >= text.length * 0.97 && letters >= text.length / 2
}

/** Exceptions would dominate the time: hardly any long word is a payload. */
const fromBytes = (bytes: Buffer): string | null => (isUtf8(bytes) ? bytes.toString() : null)

function fromNumbers(digits: readonly string[] | null, base: number): string | null {
  return digits && fromBytes(Buffer.from(digits.map((number) => Number.parseInt(number, base))))
}

/** RFC 4648 section 6. */
function fromBase32(match: string): string | null {
  const bytes: number[] = []
  let bits = 0
  let buffer = 0
  for (const letter of match.replace(/=+$/, '')) {
    buffer = (buffer << 5) | 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter)
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((buffer >> bits) & 0xff)
    buffer &= (1 << bits) - 1
  }
  return fromBytes(Buffer.from(bytes))
}

function fromLetterNumbers(match: string): string | null {
  const separator = /\d([-. ])/.exec(match)?.[1] ?? '-'
  const words = match.split(separator === ' ' ? /[,/|]+/ : /[ ,/|]+/)
  const letters = words.map((word) => (word.match(/\d+/g) ?? []).map(Number))
  if (letters.flat().some((number) => number < 1 || number > 26)) return null
  return letters
    .map((word) => word.map((number) => String.fromCharCode(96 + number)).join(''))
    .join(' ')
}

const MORSE = new Map(
  'a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-. s... t- u..- v...- w.-- x-..- y-.-- z--.. 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--... 8---.. 9----. 0-----'
    .split(' ')
    .map((entry) => [entry.slice(1), entry.slice(0, 1)]),
)

function fromMorse(match: string): string {
  return match
    .split(/\s*\/\s*/)
    .map((word) => Array.from(word.split(' '), (sign) => MORSE.get(sign) ?? '').join(''))
    .join(' ')
}

const BRAILLE = '⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵'

function fromBraille(match: string): string {
  return Array.from(match, (sign) => {
    const letter = BRAILLE.indexOf(sign)
    return letter < 0 ? ' ' : String.fromCharCode(97 + letter)
  }).join('')
}

// Every sign stands for one letter, or for one of two.
const READINGS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'il',
  '2': 'z',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '6': 'gb',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'il',
  '|': 'li',
  '+': 't',
  '€': 'e',
  '(': 'c',
}
const LETTER = 1
const SIGN = 2
/** Letters, and signs that may stand for one. */
const CLASS = new Uint8Array(0x20ad)
CLASS.fill(LETTER, 0x61, 0x7b)
for (const sign of Object.keys(READINGS)) CLASS[sign.charCodeAt(0)] = SIGN

const MAX_LENGTH = 22
const ORDINARY =
  /^(?:\d+(?:st|nd|rd|th|px|em|kg|km|cm|mm|ms|gb|mb|kb|am|pm|[bdghkmswx])|[a-z]+[!+(|]+|[a-z]{1,2}\d+|\(+[a-z]+)$/
// In such a text, single digits are letters too.
const LONE = /(?<=[a-z] )(?:1|4|70|7o|1n|1t|45|15)(?= [a-z])/g
const LONE_WORDS: Readonly<Record<string, string>> = {
  '1': 'i',
  '4': 'a',
  '70': 'to',
  '7o': 'to',
  '1n': 'in',
  '1t': 'it',
  '45': 'as',
  '15': 'is',
}
const MAX_READINGS = 8

/** Returns the view with `1gn0r3` read as `ignore`, unit by unit, and the number of such words. */
export function readLeet(view: View, vocabulary: Vocabulary): { view: View; words: number } {
  const { text } = view
  let words = 0
  let done = 0
  let read = ''
  for (let at = 0; at < text.length; at++) {
    if (!CLASS[text.charCodeAt(at)]) continue
    const start = at
    let seen = 0
    for (let kind = CLASS[text.charCodeAt(at)]; kind; kind = CLASS[text.charCodeAt(++at)])
      seen |= kind
    if (seen !== (LETTER | SIGN) || at - start > MAX_LENGTH) continue
    const word = text.slice(start, at)
    const reading = ORDINARY.test(word) ? null : readingOf(word, vocabulary)
    if (reading === null) continue
    words++
    read += text.slice(done, start) + reading
    done = at
  }
  if (words === 0) return { view, words }
  read += text.slice(done)
  if (words > 1) read = read.replace(LONE, (figure) => LONE_WORDS[figure] ?? figure)
  return { view: { ...view, text: read }, words }
}

/** Replaces every sign by its first reading. */
export const readLetters = (signs: string): string =>
  signs.replace(/[^a-z]/g, (sign) => READINGS[sign]?.[0] ?? sign)

/** Returns a reading that is a known word, possibly between literal signs. */
function readingOf(word: string, vocabulary: Vocabulary): string | null {
  const whole = knownReading(word, vocabulary)
  if (whole !== null) return whole
  const bare = word.replace(/^[($+|]+|[!+(|]+$/g, '')
  if (bare === word || !/[a-z]/.test(bare)) return null
  const read = knownReading(bare, vocabulary)
  return read === null ? null : word.replace(bare, () => read)
}

function knownReading(word: string, vocabulary: Vocabulary): string | null {
  if (word.length < 2 || !/[^a-z]/.test(word)) return null
  // Running hashes of all readings so far; the n-th choice of letters leads to the n-th hash.
  let hashes = [BASIS]
  for (const sign of word) {
    const letters = READINGS[sign] ?? sign
    const next: number[] = []
    for (const hash of hashes) {
      for (let i = 0; i < letters.length && next.length < MAX_READINGS; i++)
        next.push(step(hash, letters.charCodeAt(i)))
    }
    hashes = next
  }
  const found = hashes.find((hash) => vocabulary.hasHash(hash, word.length))
  return found === undefined ? null : spelled(word, found)
}

/** Returns the reading with this hash. */
function spelled(word: string, wanted: number): string | null {
  let readings = ['']
  for (const sign of word) {
    const letters = Array.from(READINGS[sign] ?? sign)
    readings = readings.flatMap((begun) => letters.map((letter) => begun + letter))
    readings.length = Math.min(readings.length, MAX_READINGS)
  }
  return readings.find((reading) => hashOf(reading) === wanted) ?? null
}

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
