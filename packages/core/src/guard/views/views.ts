import { normalize } from '../normalize.ts'
import type { View } from '../view.ts'
import { onTop } from '../view.ts'
import { deciphered } from './ciphers.ts'
import { findPayloads } from './encoded.ts'
import { unescaped } from './escapes.ts'
import { readLeet } from './leet.ts'
import {
  doubledLetters,
  pigLatin,
  reversedWords,
  rotated47,
  scrambledLetters,
  upsideDown,
  withoutTags,
} from './disguises.ts'
import { joinedWords, lines, separators, spacedLetters } from './spacing.ts'
import { survey } from './survey.ts'
import type { Survey } from './survey.ts'
import type { Vocabulary } from './vocabulary.ts'
import { wordsOf } from './word-scan.ts'
import { ViewWriters } from './writer.ts'

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
