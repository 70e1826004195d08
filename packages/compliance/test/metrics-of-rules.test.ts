import { describe, expect, it } from 'vitest'
import type { EntryInput } from './support/by-hand.ts'
import {
  BO,
  approval,
  approvalRule,
  change,
  day,
  decision,
  organization,
  policy,
  signedIn,
  spendOf,
} from './support/entries.ts'
import { check, factsOf, metric, value } from './support/facts.ts'

const permissive = { default_effect: 'allow' }
const born = organization('organization.created', '2025-06-01', permissive)

const count = (said: readonly EntryInput[], id: string) =>
  check(factsOf([born, ...said]), id)?.failures[0]?.count ?? 0

describe('amounts', () => {
  const foreign = (at: string, agent_id: string) =>
    decision(at, {
      agent_id,
      data: {
        amount_invalid: true,
        context: { amount: 5e4, currency: 'EUR' },
        hold: null,
        spend: null,
      },
    })

  it('that are none in USD are spent without a cap', () => {
    const facts = factsOf([born, foreign(day(1), 'trader')])

    expect(metric(facts, 'M40')).toMatchObject({ value: { numerator: 0, denominator: 1 } })
    expect(check(facts, 'SPD-1')).toMatchObject({
      population: 1,
      ok: false,
      failures: [{ params: { n: 1 }, seqs: [1] }],
    })
  })
})

describe('spend under a budget', () => {
  const charge = {
    budget: 'b',
    uid: 'bud_1',
    unit: 'usd',
    window: 'all',
    held: 5,
    expires_at: null,
  }
  const spent = (charges: readonly object[]) =>
    decision(day(1), {
      agent_id: 'trader',
      data: {
        context: { amount_usd: 5 },
        hold: { usd: 5, expires_at: null },
        charges,
        spend: null,
      },
    })

  it.each([
    ['in US dollars is capped', [charge], 1],
    ['in another unit is not', [{ ...charge, unit: 'tokens' }], 0],
    ['that only observes is not', [{ ...charge, observed: true }], 0],
  ])('%s', (_, charges, numerator) => {
    const facts = factsOf([born, spent(charges)])

    expect(metric(facts, 'M40')).toMatchObject({ value: { numerator, denominator: 1 } })
    expect(check(facts, 'SPD-1')).toMatchObject({ ok: numerator === 1 })
  })

  const budget = (at: string, uid: string, parent_id: string | null): EntryInput => ({
    kind: 'budget.set',
    at,
    data: { budget: { id: uid, uid, parent_id, unit: 'usd', limit: 10 } },
  })
  it('is shared as far as an enforced budget with a parent counts it', () => {
    const shareOf = (...entries: readonly EntryInput[]) =>
      metric(factsOf([born, ...entries]), 'M53')
    const root = budget(day(-9), 'bud_0', null)
    const child = budget(day(-8), 'bud_1', 'bud_0')
    const onRoot = { ...charge, uid: 'bud_0' }

    // Budgets from before the period count, since their parents never change.
    expect(shareOf(root, child, spent([onRoot, charge]), spent([onRoot]), spent([]))).toMatchObject(
      {
        value: { numerator: 5_000_000, denominator: 15_000_000, text: '0.3333' },
        population: 3,
      },
    )
    expect(shareOf(root, child, spent([{ ...charge, observed: true }]))).toMatchObject({
      value: { numerator: 0, denominator: 5_000_000 },
    })
    const before = { ...spent([charge]), at: day(-3) }
    expect(shareOf(root, child, before)).toMatchObject({ value: null, population: 0 })
  })
})

describe('rules in force', () => {
  const bare = (...said: readonly EntryInput[]) => count([...said, decision(day(2))], 'CHG-4')

  it.each<[string, EntryInput[], number]>([
    ['none', [], 1],
    ['a policy that denies', [policy(day(1), 'p', { effect: 'deny' })], 0],
    ['one that is switched off', [policy(day(1), 'p', { effect: 'deny', enabled: false })], 1],
    ['one that is observed', [policy(day(1), 'p', { effect: 'deny', mode: 'observe' })], 1],
    ['one before its time', [policy(day(1), 'p', { effect: 'deny', not_before: day(3) })], 1],
    ['one in its time', [policy(day(1), 'p', { effect: 'deny', not_before: day(2) })], 0],
    ['one after its time', [policy(day(1), 'p', { effect: 'deny', expires_at: day(2) })], 1],
    ['one that allows', [policy(day(1), 'p')], 1],
    ['an approval rule', [approvalRule(day(1), 'r')], 0],
    ['a switched-off approval rule', [approvalRule(day(1), 'r', { enabled: false })], 1],
    ['an observed approval rule', [approvalRule(day(1), 'r', { mode: 'observe' })], 1],
    ['a default that denies', [organization('organization.updated', day(1))], 0],
    // The erased entry may have been a rule, or the end of one.
    ['an erased rule', [{ ...policy(day(1), 'p'), erased: true }], 0],
    [
      'one of which an erased entry may be the end',
      [
        policy(day(1), 'p', { effect: 'deny' }),
        { ...change(day(1), 'policy.deleted', {}), erased: true },
      ],
      1,
    ],
  ])('%s', (_, said, expected) => {
    expect(bare(...said)).toBe(expected)
  })

  it('are evaluated for every decision, and reported by day', () => {
    const rule = policy(day(1), 'p', { effect: 'deny', not_before: day(2, 12), expires_at: day(3) })
    const said = [rule, ...[2, 2.4, 2.5, 2.9, 3, 3.1].map((at) => decision(day(at)))]

    expect(check(factsOf([born, ...said]), 'CHG-4')).toMatchObject({
      population: 2,
      value: { days: 2 },
      failures: [{ params: { days: 2 }, count: 4 }],
    })
  })

  it('are none for a decision of a lower plan, which leaves them out', () => {
    const gate = approvalRule(day(1), 'large')
    const rules = [policy(day(1), 'p', { effect: 'deny' }), gate]
    const allowed = (at: number, plan: string) => decision(day(at), { data: { plan } })
    const facts = factsOf([born, ...rules, allowed(2, 'team'), allowed(3, 'free')])
    const kind = (of: typeof facts, name: string) =>
      of.evidence.find((one) => one.kind === name)?.operated

    for (const id of ['APR-6', 'CHG-4'])
      expect(check(facts, id)).toMatchObject({ population: 2, failures: [{ count: 2 }] })
    expect(metric(facts, 'M39')?.value).toMatchObject({
      policies: 1,
      approval_rules: 1,
      decisions_with_a_rule: { numerator: 0, denominator: 2 },
    })
    expect([kind(facts, 'policy_rules'), kind(facts, 'approval_rules')]).toEqual([false, false])

    const denies = organization('organization.created', '2025-06-01', { default_effect: 'deny' })
    expect(check(factsOf([denies, allowed(2, 'team')]), 'CHG-4')).toMatchObject({ ok: false })
    expect(check(factsOf([denies, allowed(2, 'enterprise')]), 'CHG-4')).toMatchObject({ ok: true })
    const put = factsOf([born, ...rules, allowed(2, 'enterprise')])
    expect([kind(put, 'policy_rules'), kind(put, 'approval_rules')]).toEqual([true, true])
  })

  it('are no matter for a plan that has none', () => {
    const team = { organization: { id: 'org_acme', name: 'Acme', plan: 'team' } }
    const facts = factsOf([change('2025-06-01', 'organization.created', team), decision(day(1))])

    for (const id of ['APR-6', 'CHG-4', 'DEC-1', 'DEC-4'])
      expect(check(facts, id), id).toMatchObject({ population: 0, ok: true })
  })
})

describe('a change of rules', () => {
  it('is previewed within the day before, also across the beginning of the period', () => {
    const previewed = (at: string) => change(at, 'policy.dry_run', {})

    expect(value([born, previewed('2025-12-31T01'), policy(day(0, 1), 'p')], 'M37')).toMatchObject({
      numerator: 0,
    })
    const late = [born, previewed('2025-12-31T00:59:59'), policy(day(0, 1), 'p')]
    expect(value(late, 'M37')).toMatchObject({ numerator: 1, denominator: 1 })
  })

  it('of a policy that let the request come so far is the approver’s own, too', () => {
    const matched = [
      { kind: 'policy', id: 'pol_1' },
      { kind: 'approval_rule', id: 'large' },
    ]
    const [opened, ...rest] = approval(2, 'apr_1')
    const asked = { ...opened!, data: { ...opened!.data, matched } }
    const changed = (by: EntryInput['actor'], id: string): EntryInput => ({
      ...policy(day(1.5), id),
      actor: by!,
    })

    expect(count([changed(BO, 'pol_1'), asked, ...rest], 'CHG-3')).toBe(1)
    expect(count([changed(BO, 'pol_2'), asked, ...rest], 'CHG-3')).toBe(0)
    expect(count([changed({ type: 'key', id: 'key_x' }, 'pol_1'), asked, ...rest], 'CHG-3')).toBe(0)
  })

  it.each([
    ['in a session', { type: 'person', id: 'per_bo' }, { person: 'bo@example.org' }],
    ['in a session without an address', { type: 'person', id: 'per_bo' }, {}],
    [
      'with a key of an earlier address',
      { type: 'key', id: 'key_x' },
      { person: 'Bo@old.example' },
    ],
  ])('made %s is the change of the person who approves in a session', (_, actor, author) => {
    const rule = approvalRule(day(1.5), 'large')
    const by = { type: 'person', id: 'per_bo', email: 'bo@example.org', named: true }
    const said = [
      signedIn('2025-07-01', 'per_bo', 'bo@old.example'),
      { ...rule, actor, data: { ...rule.data, ...author } },
      ...approval(2, 'apr_1', { by, with: 'per_bo' }),
    ]

    expect(count(said, 'CHG-3')).toBe(1)
    expect(check(factsOf([born, ...said]), 'CHG-1')?.failures).toEqual([])
  })

  it('of more than a day ago is none that is fresh', () => {
    const by = (at: string): EntryInput => ({ ...approvalRule(at, 'large'), actor: BO })
    // Decided ten minutes after the beginning of the 3rd.
    expect(count([by(day(1)), ...approval(2, 'apr_1')], 'CHG-3')).toBe(0)
    expect(count([by(day(1, 0.5)), ...approval(2, 'apr_1')], 'CHG-3')).toBe(1)
  })
})

describe('spend', () => {
  const limit = (at: string, usd: number | null): EntryInput => ({
    ...change(at, usd === null ? 'spend_limit.removed' : 'spend_limit.set', {
      ...(usd !== null && {
        spend_limit: { agent_id: 'payer', daily_usd: usd, monthly_usd: null },
      }),
    }),
    agent_id: 'payer',
  })
  const spending = (at: string, amount: number, used: number) =>
    decision(at, {
      data: { spend: spendOf(amount, used), hold: { usd: amount, expires_at: null } },
    })
  const plain = (at: string, usd: number) =>
    decision(at, { data: { spend: null, hold: { usd, expires_at: null } } })

  it('fits a cap to the last millionth', () => {
    const fits = [born, limit(day(1), 100), spending(day(2), 0.000001, 99.999999)]
    expect(value(fits, 'M41')).toEqual({ agent_hours: 0, agent_days: 0, agent_months: 0 })
    const over = [born, limit(day(1), 100), spending(day(2), 0.000002, 99.999999)]
    expect(value(over, 'M41')).toEqual({ agent_hours: 0, agent_days: 1, agent_months: 0 })
  })

  it('is compared with the cap in force, not with the one in the decision', () => {
    const lowered = [limit(day(1), 1000), limit(day(2), 10), spending(day(3), 20, 0)]
    expect(count(lowered, 'SPD-2')).toBe(1)
  })

  it('counts as capped only where it always was', () => {
    const capped = [limit(day(1), 100), spending(day(2), 1, 0)]

    expect(value([born, ...capped], 'M40')).toMatchObject({ numerator: 1, denominator: 1 })
    const uncapped = [...capped, limit(day(3), null), plain(day(4), 1), limit(day(5), 100)]
    expect(value([born, ...uncapped], 'M40')).toMatchObject({ numerator: 0, denominator: 1 })
    expect(metric(factsOf([born, ...uncapped]), 'M41')?.population).toBe(1)
  })

  it('of nothing is none', () => {
    expect(value([born, limit(day(1), 100), spending(day(2), 0, 0)], 'M40')).toBeNull()
  })
})
