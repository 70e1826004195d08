import type { Counters } from '@remit/core/decision'
import { describe, expect, it } from 'vitest'
import { evaluatePath } from './evaluate.ts'
import { treeOf, pathOf } from './tree.ts'

const input = {
  description: null,
  enabled: true,
  mode: 'enforce',
  parent_id: null,
  reserved: false,
  match: { agents: ['*'], actions: ['*'], resources: ['*'], users: ['*'], labels: {} },
  per: 'user',
  unit: 'calls',
  window: 'day',
  time_zone: 'UTC',
  limit: 2,
  on_missing_amount: 'zero',
  hold_ttl_seconds: null,
  settlement_by_agent: 'at_least_held',
  warn_at: [],
}
const times = { created_at: '', created_by: '', updated_at: '' }
const row = { org_id: 'o', id: 'each', uid: 'u', parent_id: null, revision: 1, ...times }
const tree = treeOf({
  rows: [{ ...row, document: JSON.stringify(input) }],
  registry: null,
  mayEnd: false,
})
const now = Date.parse('2026-11-26T08:30:00Z')
const request = { agent_id: 'a', action: 'b' }

/** Decides for a user whose budget has such counters. */
function decide(user: string, used: Readonly<Record<string, number>>) {
  const counters: Pick<Counters, 'of'> = {
    of: (subject) => ({
      used: used[subject] ?? 0,
      held: 0,
      before: 0,
      ...(subject in used && { isKnown: true }),
    }),
  }
  const steps = tree ? pathOf(tree, { request, resource: null, now, user }) : []
  return evaluatePath(steps, { request, now }, counters)
}

describe('the values of a budget', () => {
  it('are counted when they are new', () => {
    expect(decide('ann', { '*values/u': 7 })).toMatchObject({
      denied: null,
      charges: [{ charge: { uid: 'u', value: 'ann' } }],
      moves: [{ subject: '*budget/u/ann' }, { subject: '*values/u', used: 1 }],
    })
    expect(decide('ann', { '*budget/u/ann': 1 }).moves).toHaveLength(1)
    // A release took it back to zero.
    expect(decide('ann', { '*budget/u/ann': 0 }).moves).toHaveLength(1)
  })

  it('beyond the bound share the counter of requests without one', () => {
    const full = { '*values/u': 100_000 }
    expect(decide('new', full)).toMatchObject({
      denied: null,
      charges: [{ charge: { uid: 'u', value: null } }],
      moves: [{ subject: '*budget/u' }],
    })
    expect(decide('new', { ...full, '*budget/u': 2 }).denied?.reason).toBe('budget_exceeded')
    // One that is known keeps its own.
    expect(decide('ann', { ...full, '*budget/u/ann': 2 }).denied?.reason).toBe('budget_exceeded')
    expect(decide('cat', { ...full, '*budget/u': 2, '*budget/u/cat': 0 }).denied).toBeNull()
    expect(decide('bob', { ...full, '*budget/u': 2, '*budget/u/bob': 1 }).denied).toBeNull()
  })
})
