import { describe, expect, it } from 'vitest'
import { agentMoves } from './charges.ts'
import { counterRows, StoredCounters } from './store.ts'

const row = { org_id: 'org_1', agent_id: 'payer', window_id: '2026-11-20' }
const hold = {
  org_id: 'org_1',
  decision_id: 'dec_1',
  agent_id: 'payer',
  day: '2026-11-20',
  hour: null,
  held_micro: 4,
  state: 'held' as const,
  charges: null,
  charges_until: null,
  expires_at: '2026-11-20T09:00:00.000Z',
}

describe('counters of a batch', () => {
  it('are zero for what was not read, and show later requests what earlier ones moved', () => {
    const counters = new StoredCounters('org_1', [])
    counters.apply(agentMoves('payer', '2026-11-20T08:00:00.000Z', 0, 5))
    counters.apply(agentMoves('payer', '2026-11-20', 3, -5))

    const moved = { used: 3, held: 0, before: 0, isKnown: true }
    expect(counters.of('payer', '2026-11-20')).toEqual(moved)
    expect(counters.of('payer', '2026-11')).toEqual(moved)
    expect(counters.of('payer', '2026-11-21')).toEqual({ used: 0, held: 0, before: 0 })
  })

  it('count no hold that is over, and write its end once', () => {
    const counters = new StoredCounters(
      'org_1',
      [{ ...row, spent_micro: 10, held_micro: 9 }],
      [hold],
      Date.parse('2026-11-21T00:00:00.000Z'),
    )
    counters.apply([{ subject: 'payer', window: '2026-11-20', used: 0, held: 2 }])

    expect(counters.of('payer', '2026-11-20')).toMatchObject({ used: 10, held: 7, before: 15 })
    const [holds, moved] = counters.writes()
    expect(holds?.rows).toEqual([{ ...hold, state: 'expired' }])
    expect(moved?.rows).toEqual([
      { ...row, spent_micro: 0, held_micro: -2 },
      { ...row, window_id: '2026-11', spent_micro: 0, held_micro: -4 },
    ])
  })

  it('are written as one row each, and not at all without a change', () => {
    const moves = [...agentMoves('a', '2026-11-20', 1, 2), ...agentMoves('a', '2026-11-21', 3, 0)]

    expect(
      counterRows('org_1', moves).rows.map(({ window_id, spent_micro }) => [
        window_id,
        spent_micro,
      ]),
    ).toEqual([
      ['2026-11-20', 1],
      ['2026-11', 4],
      ['2026-11-21', 3],
    ])
    expect(counterRows('org_1', agentMoves('a', '2026-11-20', 0, 0)).rows).toEqual([])
  })
})
