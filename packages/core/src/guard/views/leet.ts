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
const MIXED =
  /(?<![a-z0-9@$!|+€(])(?=[a-z0-9@$!|+€(]{2,22}(?![a-z0-9@$!|+€(]))[0-9@$!|+€(]*[a-z]*[a-z0-9@$!|+€(]*/g
const HINT = /[a-z][0-9@$!|+€(]|[0-9@$!|+€(][a-z]/
const ORDINARY = /^(?:\d+(?:st|nd|rd|th|[a-z]{1,2})|[a-z]+[!+(]+|[a-z]{1,2}\d+)$/
const SIGN = /[0-9@$!|+€(]/
// In a text that is written so, lone figures are letters too.
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

/** The view with `1gn0r3` read as `ignore`, unit by unit, and how many words were. */
export function readLeet(view: View, vocabulary: Vocabulary): { view: View; words: number } {
  if (!HINT.test(view.text)) return { view, words: 0 }
  let words = 0
  let text = view.text.replace(MIXED, (word) => {
    if (!HINT.test(word) || ORDINARY.test(word)) return word
    const read = readingOf(word, vocabulary)
    if (read === null) return word
    words++
    return read
  })
  if (words > 1) text = text.replace(LONE, (figure) => LONE_WORDS[figure] ?? figure)
  return { view: words > 0 ? { ...view, text } : view, words }
}

/** A reading that is a word, perhaps before signs that end a sentence. */
function readingOf(word: string, vocabulary: Vocabulary): string | null {
  const bare = word.replace(/[!+(|]+$/, '')
  return knownReading(word, vocabulary) ?? keepEnd(knownReading(bare, vocabulary), word)
}

const keepEnd = (read: string | null, word: string): string | null =>
  read === null ? null : read + word.slice(read.length)

function knownReading(word: string, vocabulary: Vocabulary): string | null {
  if (word.length < 2 || !SIGN.test(word)) return null
  let readings = ['']
  for (const sign of word) {
    const letters = READINGS[sign] ?? sign
    readings = Array.from(letters).flatMap((letter) => readings.map((begun) => begun + letter))
    readings.length = Math.min(readings.length, MAX_READINGS)
  }
  return readings.find((reading) => vocabulary.has(reading)) ?? null
}

/** Every sign by its first reading. */
export const readLetters = (signs: string): string =>
  signs.replace(/[^a-z]/g, (sign) => READINGS[sign]?.[0] ?? sign)
