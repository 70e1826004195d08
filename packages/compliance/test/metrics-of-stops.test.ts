import { describe, expect, it } from 'vitest'
import type { EntryInput } from './support/by-hand.ts'
import { agent, change, day, decision, organization } from './support/entries.ts'
import { check, factsOf, metric, value } from './support/facts.ts'

const born = organization('organization.created', '2025-06-01')
const payer = agent('2025-06-02', 'payer')

/** A stop that nothing is about, so that there always is one. */
const elsewhere: EntryInput = { at: '2025-07-01', kind: 'agent.suspended', agent_id: 'x', data: {} }

const breaches = (...said: readonly EntryInput[]) =>
  check(factsOf([born, payer, elsewhere, ...said]), 'DEC-3')?.failures.map(({ count }) => count)

const deny = (at: string, more: object = {}): EntryInput =>
  change(at, 'permission.granted', {
    permission: {
      id: 'stop',
      effect: 'deny',
      agent_id: 'payer',
      actions: ['*'],
      resources: ['*'],
      condition: null,
      not_before: null,
      expires_at: null,
      ...more,
    },
  })

const allow = (at: string, more: Partial<EntryInput> = {}) => decision(at, more)

describe('a stop', () => {
  const removed: EntryInput = {
    ...change('2025-12-01', 'agent.removed', { agent_id: 'payer' }),
    agent_id: 'payer',
  }
  const suspended = (at: string) => ({
    ...agent(at, 'payer', { status: 'suspended' }),
    kind: 'agent.suspended',
  })
  const resumed = (at: string) => ({ ...agent(at, 'payer'), kind: 'agent.resumed' })

  it('holds until it is lifted, also from before the period', () => {
    expect(breaches(suspended('2025-12-01'), allow(day(1)))).toEqual([1])
    expect(breaches(suspended(day(1)), allow(day(2)), resumed(day(3)), allow(day(4)))).toEqual([1])
    expect(breaches(suspended(day(1)), resumed(day(3)), allow(day(4)))).toEqual([])
  })

  it('by removal is never lifted', () => {
    expect(breaches(removed, allow(day(1)))).toEqual([1])
  })

  it('of an agent that was never registered holds as well', () => {
    const said = { at: day(1), kind: 'agent.suspended', agent_id: 'wild', data: { reason: 'x' } }
    expect(breaches(said, allow(day(2), { agent_id: 'wild' }))).toEqual([1])
  })

  it('does not count if an erased entry may have lifted it', () => {
    const lifted = { ...resumed(day(2)), erased: true }
    expect(breaches(suspended(day(1)), lifted, allow(day(3)))).toEqual([])
    expect(breaches(removed, lifted, allow(day(3)))).toEqual([1])
  })

  it('counts once, although the change of the agent records it too', () => {
    const updated = { ...agent(day(1), 'payer', { status: 'suspended' }), kind: 'agent.updated' }
    const facts = factsOf([born, payer, updated, suspended(day(1)), suspended(day(2))])
    expect(metric(facts, 'M25')?.population).toBe(1)
    // No request met it, so whether it holds is unknown.
    expect(check(facts, 'DEC-3')?.population).toBe(0)
  })

  it('shows by the first denial after it', () => {
    const denied = (at: string) => decision(at, { decision: 'deny', reason: 'agent_suspended' })
    const said = [suspended(day(1)), denied(day(1, 1)), denied(day(1, 2)), resumed(day(2))]
    const again = [suspended(day(3)), denied(day(3, 3))]

    expect(value([born, payer, ...said, ...again], 'M25')).toMatchObject({
      first_denial_seconds: { measured: 2, median: '3600.000', max: '10800.000' },
    })
  })
})

describe('a deny is against', () => {
  it.each<[string, object, Partial<EntryInput>, number[]]>([
    ['everything', {}, {}, [1]],
    ['its action', { actions: ['payments.*'] }, {}, [1]],
    ['no other action', { actions: ['mail.*'] }, {}, []],
    ['its resource', { resources: ['account:*'] }, { resource: 'account:1' }, [1]],
    ['no other resource', { resources: ['account:*'] }, { resource: 'card:1' }, []],
    ['no request without a resource', { resources: ['account:*'] }, {}, []],
    ['agents by a pattern', { agent_id: 'pay*' }, {}, [1]],
    ['no other agent', { agent_id: 'pay' }, {}, []],
    ['nobody before its time', { not_before: day(3) }, {}, []],
    ['any caller that asks in its time', { not_before: day(2) }, {}, [1]],
    ['nobody after its time', { expires_at: day(2) }, {}, []],
    // Conditions are not evaluated here.
    ['nobody who can be judged, under a condition', { condition: 'true' }, {}, []],
  ])('%s', (_, terms, said, expected) => {
    expect(breaches(deny(day(1), terms), allow(day(2), said))).toEqual(expected)
  })

  it('nobody once it is revoked, or replaced', () => {
    const revoked = change(day(2), 'permission.revoked', { revoked: ['stop'] })
    expect(breaches(deny(day(1)), revoked, allow(day(3)))).toEqual([])
    expect(breaches(deny(day(1)), deny(day(2), { effect: 'allow' }), allow(day(3)))).toEqual([])
    expect(breaches(deny(day(1)), { ...revoked, erased: true }, allow(day(3)))).toEqual([])
  })

  it('any number of agents, each with its own failure', () => {
    const agents = Array.from({ length: 40 }, (_, i) => `agent-${i}`)
    const allows = agents.map((agent_id) => allow(day(2), { agent_id }))

    expect(breaches(deny(day(1), { agent_id: '*' }), ...allows)).toHaveLength(40)
  })

  it('one of several, each with what it broke', () => {
    const said = [deny(day(1)), deny(day(1), { id: 'other', agent_id: 'buyer' })]
    const facts = factsOf([
      born,
      payer,
      ...said,
      allow(day(2)),
      allow(day(2), { agent_id: 'buyer' }),
      allow(day(3)),
    ])
    expect(check(facts, 'DEC-3')?.failures).toMatchObject([
      { params: { agent_id: 'payer', n: 2, seq: 2 }, seqs: [4, 6] },
      { params: { agent_id: 'buyer', n: 1, seq: 3 }, seqs: [5] },
    ])
  })
})
