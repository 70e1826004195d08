import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pooledRisk, riskOf } from './detection.ts'
import type { Detection } from './detection.ts'

const at = (detector: string, start: number, risk: number): Detection => ({
  detector,
  category: 'jailbreak',
  severity: 'high',
  start,
  end: start + 1,
  view: 'normalized',
  reason: 'injection:jailbreak',
  risk,
})

it('adds up independent hints, each counted once', () => {
  expect(pooledRisk([])).toBe(0)
  expect(pooledRisk([at('a', 0, 0.5)])).toBe(0.5)
  expect(pooledRisk([at('a', 0, 0.5), at('a', 9, 0.5)])).toBe(0.5)
  expect(pooledRisk([at('a', 0, 0.5), at('b', 9, 0.5)])).toBe(0.75)
  expect(pooledRisk([at('a', 0, 0.5), at('a', 9, 0.8)])).toBe(0.8)
})

it('does not add up hints that are far apart', () => {
  expect(pooledRisk([at('b', 5000, 0.5), at('a', 0, 0.5)])).toBe(0.5)
  expect(pooledRisk([at('a', 0, 1), at('b', 5000, 0.5), at('c', 5001, 0.5)])).toBe(1)
})

it('is the best window as found by trying all of them', () => {
  const detection = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 0, max: 9000 }))
  const risks = { a: 0.9, b: 0.55, c: 0.3, d: 1 }
  fc.assert(
    fc.property(fc.array(detection, { maxLength: 20 }), (pairs) => {
      const detections = pairs.map(([id, start]) => at(id, start, risks[id]))
      const windows = detections.map((last) => {
        const inside = detections.filter(
          ({ start }) => start <= last.start && start > last.start - 2000,
        )
        const ids = [...new Set(inside.map(({ detector }) => detector))]
        return 1 - ids.reduce((miss, id) => miss * (1 - risks[id as keyof typeof risks]), 1)
      })
      expect(pooledRisk(detections)).toBeCloseTo(Math.max(0, ...windows), 3)
    }),
  )
})

it('is the highest of the judgements of a model, however many there are', () => {
  const judgements = Array.from({ length: 200_000 }, (_, i) => at('model.direct', i, 0.1))

  expect(riskOf([...judgements, at('model.direct', 0, 0.7), at('a', 0, 0.5)])).toBe(0.7)
})
