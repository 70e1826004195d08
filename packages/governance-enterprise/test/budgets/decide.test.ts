import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const HOUR = 3_600_000

describe.each(someDialects())('decisions under budgets on %s', (dialect) => {
  let all: Api
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock('2026-11-26T08:30:00.000Z')
    all = await createApi({ dialect, clock })
  })
  beforeEach(async () => {
    clock.set('2026-11-26T08:30:00.000Z')
    api = all.as(await all.remit.organization())
  })
  afterAll(() => all.remit.close())

  const set = (id: string, more: object = {}) =>
    api.ok('setBudget', {
      params: { id },
      body: { unit: 'usd', window: 'day', limit: 10, ...more },
    })
  const ask = (context: object = {}, more: object = {}) =>
    api.ok('authorize', { body: { agent_id: 'payer', action: 'a.b', context, ...more } })
  const pay = (amount_usd: number, agent_id = 'payer') => ask({ amount_usd }, { agent_id })
  const usage = async (id: string) => {
    const { used, held, remaining } = (await api.ok('getBudget', { params: { id } })).usage ?? {}
    return [used, held, remaining]
  }
  const settle = (decision_id: string, more: object) =>
    api.ok('appendEntry', { body: { action: 'a.b', decision_id, ...more } })

  it('agents of a tree share its pools, and the answer says what is left', async () => {
    await set('company', { limit: 8 })
    await set('payments', { parent_id: 'company', match: { actions: ['a.*'] }, limit: 6 })

    expect(await pay(4, 'one')).toMatchObject({
      decision: 'allow',
      budgets: [
        { id: 'company', limit: 8, used: 0, held: 0, remaining: 8 },
        {
          id: 'payments',
          limit: 6,
          used: 0,
          held: 0,
          remaining: 6,
          resets_at: '2026-11-27T00:00:00.000Z',
        },
      ],
    })
    const denied = await pay(4, 'two')
    expect(denied).toMatchObject({
      decision: 'deny',
      reason: 'budget_exceeded',
      matched: [{ kind: 'budget', id: 'payments', revision: 1 }],
      retry_at: '2026-11-27T00:00:00.000Z',
      budgets: [
        { id: 'payments', held: 4, remaining: 2 },
        { id: 'company', held: 4, remaining: 4 },
      ],
    })
    expect(denied.message).toContain('payments')
    expect(await ask({ amount_usd: 4 }, { agent_id: 'two', action: 'other' })).toMatchObject({
      decision: 'allow',
      budgets: [{ id: 'company' }],
    })
    expect(await usage('company')).toEqual([0, 8, 0])
    expect(await usage('payments')).toEqual([0, 4, 2])
  })

  it('a denial at the fourth level leaves the counters of the other three', async () => {
    for (let level = 1; level <= 4; level++)
      await set(`l${level}`, {
        limit: level === 4 ? 1 : 10,
        parent_id: level === 1 ? null : `l${level - 1}`,
      })

    expect((await pay(2)).matched).toEqual([{ kind: 'budget', id: 'l4', revision: 1 }])
    for (const id of ['l1', 'l2', 'l3', 'l4']) expect((await usage(id)).slice(0, 2)).toEqual([0, 0])
  })

  it('what a request changes is exact within one batch', async () => {
    await set('company', { limit: 5 })
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => pay(1, `agent-${i}`)))
    expect(answers.filter(({ decision }) => decision === 'allow')).toHaveLength(5)
  })

  it('a spend limit is told before a budget, and both must pass', async () => {
    await set('company', { limit: 5 })
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 3 } })

    expect(await pay(6)).toMatchObject({
      reason: 'spend_limit_daily',
      matched: [{ kind: 'spend_limit', id: 'payer' }],
      retry_at: null,
      budgets: [{ id: 'company' }],
    })
    await pay(3)
    expect(await pay(1)).toMatchObject({
      reason: 'spend_limit_daily',
      retry_at: '2026-11-27T00:00:00.000Z',
    })
    await pay(2, 'other')
    // The hour of one and the end of the other: the later one counts.
    await set('hourly', { window: 'hour', limit: 1, match: { agents: ['payer'] } })
    expect(await pay(1)).toMatchObject({ retry_at: '2026-11-27T00:00:00.000Z' })
    expect(await pay(1, 'other')).toMatchObject({ reason: 'budget_exceeded' })
  })

  it('amounts in other units are those of context.amounts', async () => {
    await set('tokens', { unit: 'tokens', limit: 1000 })
    await set('eur', { unit: 'eur', limit: 5 })
    await set('calls', { unit: 'calls', limit: 9 })

    expect(await ask({ amounts: { tokens: 400, eur: 2.5 } })).toMatchObject({ decision: 'allow' })
    expect(await usage('tokens')).toEqual([0, 400, 600])
    expect(await usage('eur')).toEqual([0, 2.5, 2.5])
    expect(await usage('calls')).toEqual([0, 1, 8])
    expect(await ask({ amounts: { tokens: 601 } })).toMatchObject({ reason: 'budget_exceeded' })
  })

  it.each([
    [{ tokens: -1 }],
    [{ tokens: '5' }],
    [{ tokens: 1.5 }],
    [[1]],
    ['many'],
    [Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`u${i}`, 1]))],
  ])('amounts %j deny under a budget of the unit, and are ignored without one', async (amounts) => {
    expect(await ask({ amounts })).toMatchObject({ decision: 'allow' })
    await set('tokens', { unit: 'tokens', limit: 1000 })
    expect(await ask({ amounts })).toMatchObject({
      decision: 'deny',
      reason: 'amount_invalid',
      retry_at: null,
      matched: [{ kind: 'budget', id: 'tokens' }],
    })
  })

  it('an amount that its sender replaced is not taken for none', async () => {
    await set('tokens', { unit: 'tokens', limit: 1000 })
    const context = { amounts: { tokens: 5 } }
    expect(await ask(context, { replaced: ['/amounts'] })).toMatchObject({
      reason: 'amount_invalid',
    })
    expect(await ask(context, { replaced: ['/amounts/tokens'] })).toMatchObject({
      reason: 'amount_invalid',
    })
  })

  it('a request without an amount passes until the limit is reached, or is denied', async () => {
    await set('company', { limit: 3 })
    expect((await ask()).decision).toBe('allow')
    await pay(3)
    expect((await ask()).reason).toBe('budget_exceeded')
    await set('company', { limit: 4, on_missing_amount: 'deny' })
    expect((await ask()).reason).toBe('amount_invalid')
    await set('company', { limit: 0 })
    expect(await pay(0)).toMatchObject({ reason: 'budget_exceeded', retry_at: null })
  })

  it('observe counts and warns, and never denies; disabled neither', async () => {
    await set('company', { limit: 3, mode: 'observe' })
    await pay(3)
    expect(await pay(1)).toMatchObject({
      decision: 'allow',
      warnings: ['budget_would_deny: company'],
      budgets: [{ remaining: 0 }],
    })
    expect(await usage('company')).toEqual([0, 4, 0])
    await set('company', { limit: 3, enabled: false })
    expect(await pay(1)).not.toHaveProperty('budgets')
    expect(await usage('company')).toEqual([0, 4, 0])
  })

  it('each agent has the limit for itself, and its usage is listed', async () => {
    await set('each', { per: 'agent', limit: 3 })
    await pay(3, 'one')
    await pay(2, 'two')
    expect((await pay(1, 'one')).decision).toBe('deny')

    const params = { id: 'each' }
    const { data } = await api.ok('getBudgetUsage', { params })
    expect(data.map(({ value, held, remaining }) => [value, held, remaining])).toEqual([
      ['one', 3, 0],
      ['two', 2, 1],
    ])
    const first = await api.ok('getBudgetUsage', { params, query: { limit: 1 } })
    const rest = { cursor: first.next_cursor ?? '' }
    expect((await api.ok('getBudgetUsage', { params, query: rest })).data).toEqual([data[1]])
    expect((await api.ok('getBudget', { params })).usage).toBeNull()
  })

  it('requests without the user share one pool, and users match by the subject', async () => {
    await set('each', { per: 'user', window: 'day', limit: 3 })
    const evaluate = (id: string, amount_usd: number) =>
      api.ok('accessEvaluation', {
        body: {
          subject: { type: 'user', id },
          action: { name: 'a.b' },
          resource: { type: 'account', id: '1' },
          context: { agent: 'payer', amount_usd },
        },
      })
    expect((await evaluate('ann', 3)).decision).toBe(true)
    expect((await evaluate('ann', 1)).decision).toBe(false)
    expect((await evaluate('bob', 1)).decision).toBe(true)
    const subject = { type: 'user', id: 'bob' }
    expect((await ask({ amount_usd: 2 }, { subject })).decision).toBe('allow')
    expect((await ask({ amount_usd: 1 }, { subject })).decision).toBe('deny')
    expect((await pay(3)).decision).toBe('allow')
    expect((await pay(1, 'other')).decision).toBe('deny')

    const { data } = await api.ok('getBudgetUsage', { params: { id: 'each' } })
    expect(data.map(({ value, held }) => [value, held])).toEqual([
      [null, 3],
      ['ann', 3],
      ['bob', 3],
    ])
  })

  it('a slice is kept for its requests, from others and without an amount', async () => {
    await set('company', { limit: 10 })
    await set('finance', {
      parent_id: 'company',
      reserved: true,
      limit: 6,
      match: { agents: ['payer'] },
    })

    expect(await pay(5, 'other')).toMatchObject({
      decision: 'deny',
      budgets: [{ id: 'company', remaining: 4 }],
    })
    expect((await pay(4, 'other')).decision).toBe('allow')
    expect((await ask({}, { agent_id: 'other' })).decision).toBe('deny')
    expect((await pay(6)).decision).toBe('allow')
    expect((await api.ok('getBudget', { params: { id: 'company' } })).usage).toMatchObject({
      held: 10,
      kept: 0,
      remaining: 0,
    })
  })

  it('a slice that is set too late warns of what it lacks', async () => {
    await set('company', { limit: 10 })
    await pay(7, 'other')
    const slice = { parent_id: 'company', reserved: true, limit: 5, match: { agents: ['payer'] } }
    expect((await set('finance', slice)).warnings).toEqual(['slice_not_covered: 2 usd'])
    expect((await set('company', { limit: 10, mode: 'observe' })).warnings).toContain(
      'slice_not_kept',
    )
    await set('company', { limit: 12 })
    const part = { parent_id: 'finance', reserved: true, limit: 4, match: { agents: ['payer'] } }
    await set('part', { ...part, match: { agents: ['payer'], actions: ['part'] } })
    await pay(1)
    // A slice whose own slices lack something.
    expect((await set('finance', { ...slice, limit: 4 })).warnings).toEqual([
      'slice_not_covered: 1 usd',
    ])
  })

  it.each([
    ['hour', '2026-11-26T09:00:00.000Z'],
    ['day', '2026-11-27T00:00:00.000Z'],
    ['week', '2026-11-30T00:00:00.000Z'],
    ['month', '2026-12-01T00:00:00.000Z'],
    ['rolling_24h', '2026-11-27T09:00:00.000Z'],
    ['rolling_30d', '2026-12-27T00:00:00.000Z'],
  ])('retry_at is when a request of the window %s passes', async (window, at) => {
    await set('company', { window, limit: 3 })
    await pay(3)
    expect(await pay(1)).toMatchObject({ decision: 'deny', retry_at: at })
    expect(await pay(4)).toMatchObject({ decision: 'deny', retry_at: null })
    clock.set(new Date(Date.parse(at) - 1).toISOString())
    expect((await pay(1)).decision).toBe('deny')
    clock.set(at)
    expect((await pay(3)).decision).toBe('allow')
  })

  it('retry_at is null where nothing ever has room, and absent where settlements give some', async () => {
    await set('company', { window: 'total', limit: 3 })
    const { decision_id } = await pay(3)

    const held = await pay(1)
    expect(held).not.toHaveProperty('retry_at')
    expect(held.message).toContain('when holds are settled')
    const large = await pay(4)
    expect(large).toMatchObject({ decision: 'deny', retry_at: null })
    expect(large.message).toContain('can never pass')
    await settle(decision_id, { cost_usd: 2.5 })
    expect(await pay(1)).toMatchObject({ decision: 'deny', retry_at: null })
    expect((await pay(0.5)).decision).toBe('allow')
  })

  it('charges and the hold are recorded for allows alone', async () => {
    await set('company')
    await api.ok('createPolicy', { body: { effect: 'deny', actions: ['no.*'] } })
    await api.ok('setApprovalRule', { params: { id: 'ask' }, body: { actions: ['ask.*'] } })
    const dataOf = async (action: string) => {
      const { decision, ledger } = await ask({ amount_usd: 2 }, { action })
      const entry = await api.ok('getEntry', { params: { seq: String(ledger.seq) } })
      return [decision, Object.keys(entry.data ?? {}).filter((key) => /charges|hold/.test(key))]
    }

    expect(await dataOf('no.way')).toEqual(['deny', []])
    expect(await dataOf('ask.first')).toEqual(['needs_approval', []])
    expect(await dataOf('a.b')).toEqual(['allow', ['charges', 'hold']])
    expect(await usage('company')).toEqual([0, 2, 8])
  })

  it('retry_at is when the last of the windows that deny has ended', async () => {
    await set('a', { window: 'day', limit: 1 })
    await set('b', { window: 'hour', limit: 1 })
    await pay(1)
    expect(await pay(1)).toMatchObject({ retry_at: '2026-11-27T00:00:00.000Z' })
    await set('c', { window: 'total', limit: 0 })
    expect(await pay(1)).toMatchObject({ matched: [{ id: 'a' }], retry_at: null })
  })

  it('a rolling window has room when enough of its oldest hours have left', async () => {
    await set('company', { window: 'rolling_24h', limit: 3 })
    await pay(1)
    clock.advance(2 * HOUR)
    await pay(2)
    expect(await pay(1)).toMatchObject({ retry_at: '2026-11-27T09:00:00.000Z' })
    expect(await pay(2)).toMatchObject({ retry_at: '2026-11-27T11:00:00.000Z' })
  })

  it('thresholds are recorded once per crossing, by decisions, appends and settlements', async () => {
    await set('company', { limit: 10, warn_at: [50, 100] })
    const { decision_id } = await pay(5)
    await pay(1)
    await api.ok('appendEntry', { body: { action: 'x', agent_id: 'payer', cost_usd: 1 } })
    await settle(decision_id, { cost_usd: 8 })

    const { data } = await api.ok('listEntries', {
      query: { kind: 'budget.threshold', order: 'asc' },
    })
    expect(data.map((entry) => entry.data)).toEqual([
      {
        budget_id: 'company',
        window: '2026-11-26',
        threshold_percent: 50,
        limit: 10,
        used: 5,
        unit: 'usd',
      },
      {
        budget_id: 'company',
        window: '2026-11-26',
        threshold_percent: 100,
        limit: 10,
        used: 10,
        unit: 'usd',
      },
    ])
  })

  it('a dry-run shows the same budgets as a decision, and holds nothing', async () => {
    await set('company', { limit: 3 })
    const [result] = await api.remit.decider.preview(api.org.id, 'team', [
      { agent_id: 'payer', action: 'a.b', context: { amount_usd: 4 } },
    ])
    const live = await pay(4)
    expect(result).toMatchObject({
      decision: 'deny',
      budgets: live.budgets,
      retry_at: live.retry_at,
    })
    expect(await usage('company')).toEqual([0, 0, 3])
  })
})
