import { describe, expect, it } from 'vitest'
import { EvaluatedConditions } from './evaluated-conditions.ts'
import type { Ask } from './stage.ts'

const NOW = 1_000
const anAsk = (agent_id = 'payer', now = NOW): Ask => ({
  orgId: 'org_test',
  plan: 'enterprise',
  decisionId: 'dec_test',
  caller: null,
  request: { agent_id, action: 'a.b' },
  claims: {},
  resource: null,
  now,
  meter: { isOver: () => false },
})

/** The results of some texts for an agent, evaluated at NOW. */
function evaluated(texts: Readonly<Record<string, boolean | 'error'>>, ask = anAsk()) {
  const conditions = new EvaluatedConditions(NOW)
  conditions.keep(
    { ask, texts: Object.keys(texts) },
    { results: Object.values(texts), isOver: false, computedMs: 1 },
  )
  return conditions
}

const here = () => 'error' as const

describe('evaluated conditions', () => {
  it('have the results of their texts; other texts are evaluated here', () => {
    const conditions = evaluated({ yes: true, no: false })

    expect(conditions.of(anAsk(), 'yes', here)).toBe(true)
    expect(conditions.of(anAsk(), 'no', here)).toBe(false)
    expect(conditions.of(anAsk(), 'other', here)).toBe('error')
  })

  it('are of one agent: rules of a delegator are evaluated for the delegator', () => {
    expect(evaluated({ yes: true }).of(anAsk('boss'), 'yes', here)).toBe('error')
  })

  it('that read the time are of one time', () => {
    const text = "now < timestamp('2026-11-20T08:02:00Z')"
    const conditions = evaluated({ [text]: true, 'context.known': true })
    const later = anAsk('payer', NOW + 1)

    expect(conditions.of(anAsk(), text, here)).toBe(true)
    expect(conditions.of(later, text, here)).toBe('error')
    expect(conditions.of(later, 'context.known', here)).toBe(true)
  })

  it('tell which ones are missing, each once and in order, and take them for false', () => {
    const conditions = evaluated({ known: true })
    const ask = anAsk()
    const results: unknown[] = []
    const missing = conditions.missing(() => {
      for (const text of ['b', 'known', 'a', 'b']) results.push(conditions.of(ask, text, here))
    })

    expect(missing).toEqual([{ ask, texts: ['b', 'a'] }])
    expect(results).toEqual([false, true, false, false])
  })

  it('ask for a limited number and length of texts at once, and for at least one', () => {
    const asked = (texts: readonly string[]) => {
      const conditions = new EvaluatedConditions(NOW)
      const ask = anAsk()
      const [missing] = conditions.missing(() => {
        for (const text of texts) conditions.of(ask, text, here)
      })
      return missing?.texts.length
    }

    expect(asked(Array.from({ length: 100 }, (_, i) => `text ${i}`))).toBe(64)
    expect(asked(Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(2_048)))).toBe(32)
    expect(asked(['x'.repeat(100_000), 'y'])).toBe(1)
  })

  it('miss nothing once their time limit is exceeded', () => {
    const conditions = new EvaluatedConditions(NOW)
    const ask = anAsk()
    conditions.keep({ ask, texts: ['a'] }, { results: ['error'], isOver: true, computedMs: 50 })

    expect(conditions.isOver).toBe(true)
    expect(conditions.missing(() => conditions.of(ask, 'b', here))).toEqual([])
  })
})
