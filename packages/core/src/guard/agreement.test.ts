import { describe, expect, it } from 'vitest'
import { withAgreement } from './agreement.ts'
import type { Detection } from './detection.ts'

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
const riskWith = (score: number, at = 4_950, length = 9_000, one = signature) =>
  withAgreement([one], [found('model.direct', at, score, 'normalized')], length)[0]

describe('a signature in a document above 2,000 characters', () => {
  it('does not flag where the model does not agree', () => {
    expect(riskWith(0.29)).toMatchObject({ risk: 0.05, severity: 'low' })
    expect(withAgreement([signature], [], 9_000)[0]?.risk).toBe(0.05)
  })

  it('flags and does not block where the model only agrees', () => {
    expect(riskWith(0.3)?.risk).toBe(0.7)
    expect(riskWith(0.49)?.risk).toBe(0.7)
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

it('asks for no agreement in shorter texts', () => {
  expect(riskWith(0, 0, 2_000)).toEqual(signature)
})
