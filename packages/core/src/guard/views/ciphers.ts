import type { View, ViewName } from '../view.ts'
import type { Vocabulary } from './vocabulary.ts'
import type { Word } from './word-scan.ts'
import { ViewWriters } from './writer.ts'

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
  /** Its first words. */
  readonly sample: readonly string[]
}

/** Decodes runs of unknown words by Caesar, Atbash or reversal. The text is normalized. */
export function deciphered(text: string, all: readonly Word[], vocabulary: Vocabulary): View[] {
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
