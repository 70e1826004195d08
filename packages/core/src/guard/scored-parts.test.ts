import { expect, it } from 'vitest'
import type { Detection } from './detection.ts'
import { normalize } from './normalize.ts'
import { partAt, scoredParts } from './scored-parts.ts'

const text = 'A line of some ten words, all of them quite ordinary.\n'.repeat(200)
const at = (start: number, end: number): Detection => ({
  detector: 'model.direct',
  category: 'jailbreak',
  severity: 'high',
  start,
  end,
  view: 'normalized',
  reason: 'injection:jailbreak',
  risk: 0.9,
})
const scoresFor = (...found: Detection[]) =>
  scoredParts(text, normalize(text).view, found).map(({ score }) => score)
const parts = scoredParts(text, normalize(text).view, [])
const border = parts[0]?.end ?? 0

it('counts a finding for each part that it reaches into, and for no other', () => {
  expect(scoresFor(at(border - 20, border + 20)).slice(0, 3)).toEqual([0.9, 0.9, 0])
  expect(scoresFor(at(border - 20, border)).slice(0, 2)).toEqual([0.9, 0])
  expect(scoresFor(at(border, border + 20)).slice(0, 2)).toEqual([0, 0.9])
  expect(scoresFor(at(0, text.length)).every((score) => score === 0.9)).toBe(true)
})

it('finds the part that a place is in', () => {
  expect([0, border - 1, border, text.length].map((place) => partAt(parts, place))).toEqual([
    0,
    0,
    1,
    parts.length - 1,
  ])
})
