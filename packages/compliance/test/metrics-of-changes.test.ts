import { ENTRIES } from '@remit/contract/entries'
import { describe, expect, it } from 'vitest'
import { ADMINISTRATIVE } from '../src/facts/changes.ts'
import { SYSTEM } from './support/by-hand.ts'
import type { EntryInput } from './support/by-hand.ts'
import { ADA, APP, change, day, key, organization } from './support/entries.ts'
import { check, factsOf, value } from './support/facts.ts'

const born = organization('organization.created', '2025-06-01')
const people = [born, key(ADA.id, 'admin', 'ada@example.org'), key(APP.id, 'authorize', null)]
const made = (at: string, id: string, actor: EntryInput['actor']): EntryInput =>
  change(at, 'key.created', { key: { id, role: 'read', person: null } }, actor)

/** Requests, votes, events and notes of the server, and the beginning and end of an organization. */
const NO_CHANGES = [
  'approval.cancelled',
  'approval.consumed',
  'approval.decided',
  'approval.expired',
  'approval.requested',
  'approval.revoked',
  'approval.voted',
  'authorization.decided',
  'budget.threshold',
  'credential.refused',
  'enforcement.gap',
  'entry.appended',
  'guard.checked',
  'guard.counted',
  'identity.impersonation.refused',
  'inventory.reported',
  'issuer.fetch_failed',
  'ledger.genesis',
  'ledger.heartbeat',
  'ledger.recovered',
  'ledger.verified',
  'mcp.tool_changed',
  'mcp.tool_seen',
  'organization.created',
  'organization.deleted',
  'person.sign_in_refused',
  'person.signed_in',
  'person.signed_out',
  'policy.dry_run',
  // The entry before it is the change.
  'policy_set.drifted',
  'quota.threshold',
  'report.generated',
  'scorer.ran',
  'selftest.checked',
  'spend.rebuilt',
  'spend.threshold',
  'state.carried',
  'token.exchanged',
  'token.refused',
  'trust.evaluated',
  'webhook.disabled',
  'webhook.tested',
  // The server records its own setting, which no person of an organization changes.
  'witness.set',
]

describe('change control', () => {
  it('knows of every kind whether it is a change', () => {
    expect([...ADMINISTRATIVE, ...NO_CHANGES].toSorted()).toEqual(Object.keys(ENTRIES).toSorted())
  })

  it.each(NO_CHANGES)('%s is no change', (kind) => {
    expect(check(factsOf([...people, change(day(1), kind, {}, APP)]), 'CHG-1')?.population).toBe(0)
  })

  it.each(ADMINISTRATIVE)('%s is a change, which needs an author', (kind) => {
    const data = { key: { id: APP.id, role: 'read', person: null } }
    const [named, unnamed] = [ADA, APP].map((by) => [...people, change(day(1), kind, data, by)])

    expect(value(named!, 'M35')).toEqual({
      by_kind: { [kind]: 1 },
      by_actor: { 'ada@example.org': 1 },
    })
    expect(value(named!, 'M36')).toBe(0)
    expect(value(unnamed!, 'M36')).toBe(1)
    expect(check(factsOf(unnamed!), 'CHG-1')).toMatchObject({
      ok: false,
      failures: [{ seqs: [3] }],
    })
  })

  const session = { type: 'person', id: 'per_ada' }
  it.each([
    ['key key_ada (ada@example.org)', ADA, {}],
    ['key key_app (no named person)', APP, {}],
    ['person per_ada (ada@example.org)', session, { person: 'ada@example.org' }],
    ['person per_ada', session, {}],
    ['system remit (ada@example.org)', SYSTEM, { person: 'ada@example.org' }],
    ['system remit', SYSTEM, {}],
  ])('is recorded by %s', (by, actor, author) => {
    const data = { permission: { id: 'pay' }, ...author }
    const facts = factsOf([...people, change(day(1), 'permission.revoked', data, actor)])

    expect(facts.entries.get(3)?.by).toBe(by)
  })

  it('the person who creates an organization by sign-up is the author of the invitation', () => {
    const invited = { member: { id: 'per_ada', email: 'ada@example.org' } }
    const by = { type: 'person', id: 'per_ada' }
    const facts = factsOf([...people, change(day(1), 'person.invited', invited, by)])

    expect(check(facts, 'CHG-1')).toMatchObject({ population: 1, ok: true })
  })

  it('the first key belongs to the making of the organization; the second is a change', () => {
    const first = made(day(1), 'key_1', SYSTEM)
    const young = { ...born, at: day(1) }

    expect(check(factsOf([young, first]), 'CHG-1')?.population).toBe(0)
    expect(check(factsOf([young, first, made(day(2), 'key_2', SYSTEM)]), 'CHG-1')).toMatchObject({
      population: 1,
      failures: [{ seqs: [2] }],
    })
  })

  it('an erased first key does not make the second one the first', () => {
    const gone = { ...made(day(1), 'key_1', SYSTEM), erased: true }
    const second = made(day(2), 'key_2', SYSTEM)

    expect(check(factsOf([{ ...born, at: day(1) }, gone, second]), 'CHG-1')?.population).toBe(1)
  })
})
