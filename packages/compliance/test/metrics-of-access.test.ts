import { describe, expect, it } from 'vitest'
import type { EntryInput } from './support/by-hand.ts'
import { check, factsOf, metric, value } from './support/facts.ts'
import { agent, change, credential, decision } from './support/entries.ts'

describe('access', () => {
  const said = [
    agent('2025-11-01', 'payer'),
    agent('2025-11-01', 'team', { owners: [{ type: 'team', id: 'finance' }] }),
    agent('2025-11-01', 'gone'),
    agent('2026-01-05', 'new'),
    credential('2025-11-02', 'cred_0', { expires_at: '2026-02-01T00:00:00.000Z' }),
    credential('2025-11-03', 'cred_old'),
    credential('2026-01-06', 'cred_1'),
    credential('2026-01-07', 'cred_2', { agent_id: 'gone', scopes: ['*'] }),
    credential('2026-01-08', 'cred_3', { agent_id: 'gone' }),
    credential('2026-01-09', 'cred_4', { agent_id: 'stranger', expires_at: null }),
    change('2026-01-10', 'credential.revoked', { credential: { id: 'cred_1' } }),
    {
      ...change('2026-01-11', 'agent.removed', { agent_id: 'gone', revoked_credentials: [] }),
      agent_id: 'gone',
    },
    change('2026-01-13', 'credential.revoked', { credential_ids: ['cred_3', 'cred_1'] }),
    decision('2025-12-31', { agent_id: 'payer' }),
  ]

  it('M26, M27: agents, and those that no person owns', () => {
    expect(value(said, 'M26')).toEqual({ active: 3, registered: 1, removed: 1 })
    expect(value(said, 'M27')).toBe(1)
    expect(check(factsOf(said), 'ACC-1')).toMatchObject({
      population: 3,
      failures: [{ params: { n: 1 }, seqs: [1] }],
    })
  })

  it('M28: 90 days are counted from the end of the period', () => {
    // The decision of 31 December is 91 days old.
    expect(value(said, 'M28')).toBe(1)
    const active = decision('2026-01-01', { agent_id: 'payer' })
    expect(value([...said, active], 'M28')).toBe(0)
  })

  it('M28, M34: younger agents and grants are not judged, and an erased decision explains one', () => {
    const owned = (at: string, id = 'idle') => [
      agent(at, id),
      credential('2026-01-06', `cred_${id}`, { agent_id: id }),
      change(at, 'permission.granted', {
        permission: { id, effect: 'allow', agent_id: id, actions: ['mail.send'] },
      }),
    ]
    const erased = { ...decision('2026-01-02', { agent_id: 'idle' }), erased: true }
    const verdicts = (...more: readonly EntryInput[]) =>
      ['ACC-6', 'ACC-7'].map((id) => check(factsOf(more), id)?.ok)

    expect(verdicts(...owned('2025-12-31'))).toEqual([false, false])
    expect(verdicts(...owned('2026-01-01'))).toEqual([true, true])
    expect(verdicts(...owned('2025-12-31'), erased)).toEqual([true, true])
    const two = [...owned('2025-12-30'), ...owned('2025-12-31', 'other')]
    expect(verdicts(...two, erased)).toEqual([false, false])
  })

  it('M29: alive, issued, revoked and expired credentials add up', () => {
    // Alive before: cred_0, cred_old; at the end: cred_old, cred_2, cred_4.
    expect(value(said, 'M29')).toEqual({ alive: 3, issued: 4, revoked: 2, expired: 1 })
  })

  it('M30, M31: old ones, and those without an end or a real scope', () => {
    const facts = factsOf(said)
    expect(metric(facts, 'M30')).toMatchObject({ value: 1, population: 3 })
    expect(metric(facts, 'M31')).toMatchObject({ value: 2, population: 3 })
    expect(check(facts, 'ACC-2')).toMatchObject({ ok: false, failures: [{ seqs: [4] }] })
    expect(check(facts, 'ACC-3')).toMatchObject({ ok: false, failures: [{ count: 2 }] })
  })

  it('M30: an age of exactly 90 days is not older', () => {
    const exact = [agent('2025-11-01', 'payer'), credential('2026-01-01', 'cred_1')]
    expect(value(exact, 'M30')).toBe(0)
  })

  it('M32: credentials that outlive their agent, at the end and on the way', () => {
    // cred_2 is alive for ever; cred_3 was revoked two days after the removal.
    const facts = factsOf(said)
    expect(metric(facts, 'M32')).toMatchObject({
      value: { orphaned: 1, longest_delay_hours: '48.00' },
      population: 1,
    })
    expect(check(facts, 'ACC-4')).toMatchObject({ ok: false, failures: [{ count: 2 }] })
  })

  it('M33: credentials of unregistered agents', () => {
    expect(metric(factsOf(said), 'M33')).toMatchObject({ value: 1, population: 4 })
  })

  it('a rotated credential lives until the end that the rotation gives it', () => {
    const rotated: EntryInput = {
      ...credential('2026-03-20', 'cred_5', { rotated_from: 'cred_4' }),
      kind: 'credential.rotated',
    }
    const data = {
      ...rotated.data,
      rotated_from: { id: 'cred_old', expires_at: '2026-03-21T00:00:00.000Z' },
    }
    expect(value([...said, { ...rotated, data }], 'M29')).toEqual({
      alive: 3,
      issued: 5,
      revoked: 2,
      expired: 2,
    })
  })

  it('M34: grants of every action, and grants without decisions', () => {
    const grant = (id: string, actions: string[], more: object = {}) =>
      change('2025-12-01', 'permission.granted', {
        permission: { id, effect: 'allow', agent_id: 'payer', actions, ...more },
      })
    const grants = [
      grant('used', ['mail.*', 'payments.tran*er']),
      grant('wild', ['*']),
      grant('idle', ['payments.refund']),
      grant('others', ['payments.*'], { agent_id: 'reader' }),
      grant('ended', ['x'], { expires_at: '2026-03-31T00:00:00.000Z' }),
      grant('deny', ['y'], { effect: 'deny' }),
      grant('revoked', ['z']),
      change('2026-01-02', 'permission.revoked', { revoked: ['revoked'] }),
      decision('2026-01-02'),
    ]
    const facts = factsOf(grants)
    expect(metric(facts, 'M34')?.value).toEqual({ grants: 4, wildcards: 1, unused: 2 })
    expect(check(facts, 'ACC-6')).toMatchObject({
      population: 4,
      ok: false,
      failures: [
        {
          params: { n: 4, found: '1 for every action and 2 not used in 90 days' },
          count: 3,
          seqs: [1, 2, 3],
        },
      ],
    })
  })
})
