import { describe, expect, it } from 'vitest'
import { DECIDED, FactEntry } from './entry.ts'

const entryOf = (payload: string | null): FactEntry =>
  new FactEntry({ seq: 7, recorded_at: '2026-01-01T00:00:00.000Z', kind: DECIDED, payload }, 0)

const PAYLOAD = {
  action: 'payments.transfer',
  actor: { id: 'key_1', type: 'key' },
  agent_id: 'payer',
  data: {
    approval: { id: 'apr_1', status: 'consumed' },
    config_version: 4,
    context: { amount_usd: 12, session_id: 's1' },
    hold: { expires_at: '2026-01-01T00:10:00.000Z', usd: 12 },
    matched: [
      { id: 'pol_1', kind: 'policy', revision: 2 },
      { id: 'payer', kind: 'spend_limit' },
    ],
    plan: 'enterprise',
    spend: { amount_usd: 12, daily: { limit_usd: 100, spent_usd: 8.5 }, monthly: null },
  },
  decision: 'allow',
  reason: 'policy_allow',
  resource: null,
}

/** Everything that a meter can ask an entry for. */
function readAll(entry: FactEntry) {
  const { actor, agent_id, action, resource, decision, reason, decided, erased } = entry
  const { context } = entry.read(DECIDED)
  return { actor, agent_id, action, resource, decision, reason, decided, erased, context }
}

describe('an entry of a decision', () => {
  it('has the recorded members, with amounts in micro-USD', () => {
    const { decided, ...members } = readAll(entryOf(JSON.stringify(PAYLOAD)))

    const { data, ...fields } = PAYLOAD
    expect(members).toEqual({ ...fields, erased: false, context: data.context })
    expect(decided).toMatchObject({
      configVersion: 4,
      plan: 'enterprise',
      matches: 2,
      isGoverned: true,
      matched: [
        { kind: 'policy', id: 'pol_1' },
        { kind: 'spend_limit', id: 'payer' },
      ],
      approval: { id: 'apr_1', status: 'consumed' },
      spend: {
        amountMicro: 12e6,
        windows: { day: { limitMicro: 100e6, spentMicro: 8.5e6 }, month: null },
      },
      hasInvalidAmount: false,
      budgets: [],
      heldMicro: 12e6,
    })
  })

  it.each([null, '', '{', '[]', '7', 'null'])('with the payload %j has nothing', (payload) => {
    const { erased, ...members } = readAll(entryOf(payload))

    expect(erased).toBe(payload === null)
    expect(Object.values(members).filter((value) => value !== null)).toEqual([])
  })
})
