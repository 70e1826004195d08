import { describe, expect, it } from 'vitest'
import { SYSTEM } from './support/by-hand.ts'
import type { EntryInput } from './support/by-hand.ts'
import { ADA, APP, change, day, key, organization } from './support/entries.ts'
import { check, factsOf, value } from './support/facts.ts'

const born = organization('organization.created', '2025-06-01')
const people = [born, key(ADA.id, 'admin', 'ada@example.org'), key(APP.id, 'authorize', null)]
const made = (at: string, id: string, actor: EntryInput['actor']): EntryInput =>
  change(at, 'key.created', { key: { id, role: 'read', person: null } }, actor)

describe('change control', () => {
  it.each([
    ['organization.updated', { organization: { id: 'org_acme', settings: {} } }],
    ['webhook.created', { webhook: { id: 'wh_1' } }],
    ['webhook.updated', { webhook: { id: 'wh_1' } }],
    ['webhook.deleted', { webhook: { id: 'wh_1' } }],
    ['key.created', { key: { id: 'key_new', role: 'read' } }],
    ['key.revoked', { key: { id: APP.id } }],
  ])('%s is a change, which needs an author', (kind, data) => {
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

  it('a webhook that the server switched off is no change', () => {
    const disabled = change(day(1), 'webhook.disabled', { webhook: { id: 'wh_1' } }, SYSTEM)

    expect(check(factsOf([...people, disabled]), 'CHG-1')?.population).toBe(0)
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
