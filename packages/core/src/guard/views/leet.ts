import { BASIS, hashOf, step } from '../model/hashing.ts'
import type { View } from '../view.ts'
import type { Vocabulary } from './vocabulary.ts'

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
