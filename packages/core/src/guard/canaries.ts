import type { Detection } from './detection.ts'
import { normalize } from './normalize.ts'
import { originalSpan } from './view.ts'
import type { View, ViewName } from './view.ts'

// One occurrence of a canary is a leak; a list of all is not needed.
const MAX_PER_CANARY = 100
const MIN_NORMALIZED = 4
/** Shorter ones occur by chance across a line break: the/night. */
const MIN_BROKEN = 8
// Spans with all letters of a canary in order that are not the canary.
const MAX_TRIED = 100

/** A canary in its search forms. */
export interface Canary {
  readonly given: string
  /** Normalized, on one line. */
  readonly line: string
  readonly letters: Letters
}

/** The visible text, without white space. */
interface Letters {
  readonly text: string
  /** Position of each unit in the text with white space. */
  readonly places: readonly number[]
  /** The gap before each unit: one of those below. */
  readonly gaps: readonly number[]
}

const NO_GAP = 0
const BLANK = 1
/** A line break can stand for a space or for nothing. */
const LINE_BREAK = 2

/** Prepared once for all texts of a request. */
export const prepareCanaries = (canaries: readonly string[]): Canary[] =>
  canaries.map((given) => {
    const line = oneLine(normalize(given).view.text)
    return { given, line, letters: lettersOf(line.trim()) }
  })

/**
 * Finds canaries in a text. Compared in normalized form: case, accents, look-alikes, line breaks,
 * invisible characters and encodings (`decoded`) do not hide one.
 */
export function findCanaries(
  text: string,
  view: View,
  canaries: readonly Canary[],
  decoded: readonly View[] = [],
): Detection[] {
  if (canaries.length === 0) return []
  return [view, ...decoded].flatMap((form) => canariesIn(text, form, canaries))
}

function canariesIn(text: string, view: View, canaries: readonly Canary[]): Detection[] {
  const visible = oneLine(view.text)
  const letters = view.text.includes('\n') ? lettersOf(view.text) : null
  const found = ([start, end]: readonly [number, number]) =>
    leak(...originalSpan(view, start, end), view.name)
  return canaries.flatMap((canary) => {
    const { given, line } = canary
    // Without enough visible text, only exact characters can be searched for.
    if (line.trim().length < MIN_NORMALIZED) {
      if (view.name !== 'normalized') return []
      return placesOf(text, given).map((at) => leak(at, at + given.length, 'original'))
    }
    const places = placesOf(visible, line)
    if (places.length > 0 || !letters) return places.map((at) => found([at, at + line.length]))
    return brokenPlaces(letters, canary).map(found)
  })
}

/** A line break is equivalent to a space; both are one unit of a view. */
const oneLine = (text: string): string => text.replaceAll('\n', ' ')

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = []
  let at = text.indexOf(wanted)
  while (at >= 0 && places.length < MAX_PER_CANARY) {
    places.push(at)
    at = text.indexOf(wanted, at + wanted.length)
  }
  return places
}

/** Returns the line breaks inside the words of a canary. */
function brokenPlaces(shown: Letters, { letters }: Canary): [number, number][] {
  const { length } = letters.text
  if (length < MIN_BROKEN) return []
  const places: [number, number][] = []
  let at = shown.text.indexOf(letters.text)
  for (let tried = 0; at >= 0 && tried < MAX_TRIED && places.length < MAX_PER_CANARY; tried++) {
    const isWhole = isSpacedAlike(shown, at, letters)
    if (isWhole) places.push([shown.places[at] ?? 0, (shown.places[at + length - 1] ?? 0) + 1])
    at = shown.text.indexOf(letters.text, at + (isWhole ? length : 1))
  }
  return places
}

/** Returns true if the spaces match those of the canary; a line break matches both. */
function isSpacedAlike(shown: Letters, at: number, { text, gaps }: Letters): boolean {
  for (let i = 1; i < text.length; i++) {
    const gap = shown.gaps[at + i]
    if (gap !== LINE_BREAK && gap !== gaps[i]) return false
  }
  return true
}

function lettersOf(text: string): Letters {
  const places: number[] = []
  const gaps: number[] = []
  let letters = ''
  let gap = NO_GAP
  for (let at = 0; at < text.length; at++) {
    const unit = text.charAt(at)
    if (unit === '\n') gap = LINE_BREAK
    else if (unit === ' ') gap = Math.max(gap, BLANK)
    else {
      letters += unit
      places.push(at)
      gaps.push(gap)
      gap = NO_GAP
    }
  }
  return { text: letters, places, gaps }
}

const leak = (start: number, end: number, view: ViewName): Detection => ({
  detector: view === 'normalized' || view === 'original' ? 'canary.plain' : 'canary.encoded',
  category: 'canary_leak',
  severity: 'critical',
  start,
  end,
  view,
  reason: 'canary:leak',
  risk: 1,
})
