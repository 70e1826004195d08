import type { Entry } from '@remit/contract'
import { expect, it } from 'vitest'
import { bodyOf, eventOf } from './outbox.ts'

it('an enforcement gap is an event that names what ran, without free data', () => {
  const entry = {
    kind: 'enforcement.gap',
    recorded_at: '2026-11-20T08:00:00.000Z',
    agent_id: 'a',
    action: 'x.y',
    resource: null,
    data: { decision_id: null, outcome: 'success', metadata: { secret: 1 } },
    seq: 7,
    hash: 'h',
  } as unknown as Entry

  expect(eventOf('enforcement.gap', null)).toBe('enforcement.gap')
  expect(eventOf('selftest.checked', 'deny')).toBeNull()
  expect(JSON.parse(bodyOf('enforcement.gap', entry))).toEqual({
    type: 'enforcement.gap',
    timestamp: '2026-11-20T08:00:00.000Z',
    data: {
      decision_id: null,
      outcome: 'success',
      agent_id: 'a',
      action: 'x.y',
      resource: null,
      ledger: { seq: 7, hash: 'h' },
    },
  })
})
