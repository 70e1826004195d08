import { describe, expect, it } from 'vitest'
import { withAgreement } from './injection.ts'
import type { Detection } from './detection.ts'
import { riskOf } from './detection.ts'

const found = (
  detector: string,
  start: number,
  risk: number,
  view: Detection['view'],
): Detection => ({
  detector,
  category: 'instruction_override',
  severity: 'high',
  start,
  end: start + 30,
  view,
  reason: 'injection:instruction_override',
  risk,
})
const signature = found('override.prior_instructions', 5_000, 0.95, 'normalized')
const model = (score: number, at = 4_950) => found('model.direct', at, score, 'normalized')
const riskWith = (score: number, at = 4_950, length = 9_000, one = signature) =>
  withAgreement([one], [model(score, at)], length, true)[0]

describe('a signature in a document above 2,000 characters', () => {
  it('does not flag where the model does not agree', () => {
    expect(riskWith(0.29)).toMatchObject({ risk: 0.05, severity: 'low' })
    expect(withAgreement([signature], [], 9_000, true)[0]?.risk).toBe(0.05)
  })

  it('flags and does not block where the model only agrees', () => {
    for (const score of [0.3, 0.49]) {
      const risk = riskOf(withAgreement([signature], [model(score)], 9_000, true))
      expect(risk).toBeGreaterThanOrEqual(0.5)
      expect(risk).toBeLessThan(0.65)
    }
  })

  it('has its weight where the model flags, too', () => {
    expect(riskWith(0.5)).toEqual(signature)
  })

  it('needs the agreement in its own place', () => {
    expect(riskWith(0.99, 1_000)?.risk).toBe(0.05)
    expect(riskWith(0.99, 8_000)?.risk).toBe(0.05)
  })

  it('needs none in text that is hidden', () => {
    const hidden = found('override.prior_instructions', 5_000, 0.95, 'hidden')

    expect(riskWith(0, 0, 9_000, hidden)).toEqual(hidden)
  })
})

describe('signatures in other texts', () => {
  const near = { ...signature, start: 50, end: 80 }
  const others = [near, { ...near, detector: 'override.all_instructions' }]
  const riskOfAll = (score: number, isDocument: boolean) =>
    riskOf(withAgreement(others, [model(score, 40)], 2_000, isDocument))

  it('flag and do not block where the model does not flag, however many they are', () => {
    for (const isDocument of [true, false]) {
      expect(riskOfAll(0, isDocument)).toBeGreaterThanOrEqual(0.5)
      expect(riskOfAll(0.49, isDocument)).toBeLessThan(0.65)
    }
  })

  it('have their weight where it flags, too', () => {
    expect(riskOfAll(0.5, false)).toBeGreaterThan(0.95)
  })
})
