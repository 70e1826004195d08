import type { View, ViewName } from '../view.ts'
import type { Vocabulary } from './vocabulary.ts'
import type { Word } from './words.ts'

const MIN_WORDS = 3
const MAX_RUNS = 24
const MAX_GAP = 12
const MAX_KNOWN = 1
const SAMPLE = 24
/** From this share of letters in known words on, a reading is taken to be what is meant. */
const CONVINCING = 0.62
// The logarithm of how often the letters a to z occur in English, in thousandths.
const FREQUENCY = [
  82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20,
  1,
].map(Math.log)

interface Run {
  readonly start: number
  readonly end: number
  readonly words: readonly string[]
}

/** Runs of words that are none, read by Caesar, Atbash or from right to left. Text is normalized. */
export function deciphered(text: string, all: readonly Word[], vocabulary: Vocabulary): View[] {
  return unknownRuns(text, all).flatMap((run) => {
    const sample = run.words.slice(0, SAMPLE)
    if (vocabulary.share(sample.map(reversed)) >= CONVINCING)
      return [backwards(text, run.start, run.end)]
    const [name, table] = likeliestTable(sample.join(''))
    if (vocabulary.share(sample.map((word) => substitute(word, table))) < CONVINCING) return []
    return [substitutedView(name, text, run, table)]
  })
}

/** The stretch read from right to left. */
function backwards(text: string, start: number, end: number): View {
  const length = end - start
  return {
    name: 'reversed',
    text: reversed(text.slice(start, end)),
    starts: Uint32Array.from({ length }, (_, i) => end - 1 - i),
    ends: Uint32Array.from({ length }, (_, i) => end - i),
  }
}

function reversed(text: string): string {
  let read = ''
  for (let at = text.length - 1; at >= 0; at--) read += text.charAt(at)
  return read
}

/** Stretches of unknown words; a known one may stand among them by chance, two in a row do not. */
function unknownRuns(text: string, all: readonly Word[]): Run[] {
  const runs: Run[] = []
  let first = -1
  let last = -1
  const close = () => {
    const members = all.slice(first, last + 1)
    const unknown = members.filter((word) => !word.known).length
    const [start, end] = [all[first]?.start ?? 0, all[last]?.end ?? 0]
    if (first >= 0 && unknown >= MIN_WORDS)
      runs.push({ start, end, words: members.map((word) => text.slice(word.start, word.end)) })
    first = -1
  }
  for (const [i, word] of all.entries()) {
    if (runs.length >= MAX_RUNS) break
    const isFar = word.start - (all[i - 1]?.end ?? 0) > MAX_GAP
    if (first >= 0 && (isFar || (word.known && i - last > MAX_KNOWN))) close()
    if (word.known) continue
    if (first < 0) first = i
    last = i
  }
  if (first >= 0 && runs.length < MAX_RUNS) close()
  return runs
}

/** A letter's number to its letter's number. */
type Table = readonly number[]

/** Of the 25 shifts and Atbash, the one whose letters occur as those of English do. */
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

function substitutedView(name: ViewName, text: string, { start, end }: Run, table: Table): View {
  const length = end - start
  return {
    name,
    text: substitute(text.slice(start, end), table),
    starts: Uint32Array.from({ length }, (_, i) => start + i),
    ends: Uint32Array.from({ length }, (_, i) => start + i + 1),
  }
}
