import type { Detection } from './detection.ts'
import { normalize } from './normalize.ts'
import { originalSpan } from './view.ts'
import type { View, ViewName } from './view.ts'

// One sighting of a canary is a leak; a flood of them need not be listed in full.
const MAX_PER_CANARY = 100
const MIN_NORMALIZED = 4

/**
 * Planted texts that came back. Compared as detectors read: case, accents, look-alikes, white space
 * and invisible characters do not hide one, and neither does an encoding that `decoded` holds.
 */
export function findCanaries(
  text: string,
  view: View,
  canaries: readonly string[],
  decoded: readonly View[] = [],
): Detection[] {
  if (canaries.length === 0) return []
  return [view, ...decoded].flatMap((form) => canariesIn(text, form, canaries))
}

function canariesIn(text: string, view: View, canaries: readonly string[]): Detection[] {
  const visible = oneLine(view.text)
  return canaries.flatMap((canary) => {
    const normalized = oneLine(normalize(canary).view.text)
    // Without enough visible text left, only the very characters can be looked for.
    if (normalized.trim().length < MIN_NORMALIZED) {
      if (view.name !== 'normalized') return []
      return placesOf(text, canary).map((at) => leak(at, at + canary.length, 'original'))
    }
    return placesOf(visible, normalized).map((at) =>
      leak(...originalSpan(view, at, at + normalized.length), view.name),
    )
  })
}

/** A line break is as good as a space; both are one unit of a view. */
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
