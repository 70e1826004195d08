import type { Deps } from '@remit/core/module'
import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sampleHour } from '../../src/budgets/samples.ts'
import { spendAccounts } from '../../src/budgets/rebuild.ts'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const MINUTE = 60_000

describe.each(someDialects())('settlement under budgets on %s', (dialect) => {
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
      body: { unit: 'usd', window: 'day', limit: 100, ...more },
    })
  const ask = async (context: object, agent_id = 'payer') => {
    const answer = await api.ok('authorize', { body: { agent_id, action: 'a.b', context } })
    expect(answer.decision).toBe('allow')
    return answer.decision_id
  }
  const settle = (decision_id: string, more: object) =>
    api.ok('appendEntry', { body: { action: 'a.b', decision_id, ...more } })
  const usage = async (id: string) => {
    const { used, held } = (await api.ok('getBudget', { params: { id } })).usage ?? {}
    return [used, held]
  }
  const accounts = () => {
    const { db, writer } = api.remit
    return spendAccounts({ db, writer, clock } as Partial<Deps> as Deps)
  }
  /** The differences between the stored counters and the ledger. */
  const differences = async () => {
    const found = await accounts().compare(api.org.id)
    expect(found.complete).toBe(true)
    return [...found.budgets, ...found.differences]
  }

  it.each([
    ['above', { cost_usd: 8, amounts: { tokens: 700 } }, [8, 0], [700, 0], [1, 0]],
    ['at', { cost_usd: 5, amounts: { tokens: 400 } }, [5, 0], [400, 0], [1, 0]],
    ['below', { cost_usd: 2, amounts: { tokens: 3 } }, [2, 0], [3, 0], [1, 0]],
    ['held', { settle: 'held' }, [5, 0], [400, 0], [1, 0]],
    ['release', { settle: 'release' }, [0, 0], [0, 0], [0, 0]],
    ['only the cost', { cost_usd: 0 }, [0, 0], [400, 0], [1, 0]],
    ['only tokens', { amounts: { tokens: 3 } }, [5, 0], [3, 0], [1, 0]],
  ])(
    '%s the hold moves every budget of the path by the same amount, once',
    async (_, body, usd, tokens, calls) => {
      await set('company')
      await set('team', { parent_id: 'company' })
      await set('tokens', { unit: 'tokens', limit: 9000 })
      await set('calls', { unit: 'calls', limit: 90 })
      const id = await ask({ amount_usd: 5, amounts: { tokens: 400 } })
      expect([await usage('company'), await usage('tokens'), await usage('calls')]).toEqual([
        [0, 5],
        [0, 400],
        [0, 1],
      ])

      await settle(id, body)

      expect(await usage('company')).toEqual(usd)
      expect(await usage('team')).toEqual(usd)
      expect(await usage('tokens')).toEqual(tokens)
      expect(await usage('calls')).toEqual(calls)
      const again = { body: { action: 'a.b', decision_id: id, ...body } }
      expect(await api.refusal('appendEntry', again)).toMatchObject({ code: 'decision_settled' })
      expect(await differences()).toEqual([])
    },
  )

  it('an excess counts in the current window, and the hold in its own', async () => {
    await set('company')
    const id = await ask({ amount_usd: 5 })
    clock.set('2026-11-27T08:00:00.000Z')
    await settle(id, { cost_usd: 7 })
    expect(await usage('company')).toEqual([2, 0])
    expect(await differences()).toEqual([])
  })

  it('the end of a hold is that of its own budget, and of no other', async () => {
    await set('short', { hold_ttl_seconds: 60 })
    await set('long', { hold_ttl_seconds: 600 })
    await set('never')
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 50 } })
    const id = await ask({ amount_usd: 5 })
    clock.advance(2 * MINUTE)
    const held = async () => [
      await usage('short'),
      await usage('long'),
      await usage('never'),
      (await api.ok('getSpendLimit', { params: { id: 'payer' } })).spent.day.held_usd,
    ]
    expect(await held()).toEqual([[0, 0], [0, 5], [0, 5], 5])
    expect(await differences()).toEqual([])
    // A decision writes the end.
    await ask({ amount_usd: 1 })
    expect(await held()).toEqual([[0, 1], [0, 6], [0, 6], 6])
    clock.advance(9 * MINUTE)
    await ask({ amount_usd: 1 })
    expect(await held()).toEqual([[0, 1], [0, 2], [0, 7], 7])

    await settle(id, { cost_usd: 3 })
    expect(await held()).toEqual([[3, 1], [3, 2], [3, 2], 2])
    expect(await differences()).toEqual([])
  })

  it('an append without a decision uses the budgets that match it, and is no call', async () => {
    await set('company')
    await set('tokens', { unit: 'tokens', limit: 9000, match: { actions: ['model.*'] } })
    await set('calls', { unit: 'calls', limit: 90 })
    const append = (action: string) =>
      api.ok('appendEntry', {
        body: { action, agent_id: 'payer', cost_usd: 2, amounts: { tokens: 50 } },
      })
    const entry = await append('model.run')
    await append('other')

    expect([await usage('company'), await usage('tokens'), await usage('calls')]).toEqual([
      [4, 0],
      [50, 0],
      [0, 0],
    ])
    expect(entry.data).toMatchObject({
      amounts: { tokens: 50 },
      charges: [
        { budget: 'company', unit: 'usd', window: '2026-11-26', used: 2 },
        { budget: 'tokens', unit: 'tokens', window: '2026-11-26', used: 50 },
      ],
    })
    expect(await differences()).toEqual([])
  })

  it('an append that names an agent as its actor is one of that agent', async () => {
    await set('company', { match: { agents: ['payer'] } })
    const append = (actor: unknown) =>
      api.ok('appendEntry', { body: { action: 'x', actor: actor as string, cost_usd: 2 } })
    await append('payer')
    await append({ type: 'agent', id: 'payer' })
    await append({ type: 'user', id: 'payer' })

    expect(await usage('company')).toEqual([4, 0])
    expect(await differences()).toEqual([])
  })

  it('the children of a budget use together what their parent uses', async () => {
    await set('company')
    await set('left', { parent_id: 'company', match: { agents: ['one'] } })
    await set('right', { parent_id: 'company', match: { agents: ['two'] } })
    const children = async () => {
      const [left, right] = [await usage('left'), await usage('right')]
      return left.map((amount, i) => (amount ?? 0) + (right[i] ?? 0))
    }
    for (const [i, more] of [
      { cost_usd: 9 },
      { cost_usd: 1 },
      { settle: 'release' },
      { settle: 'held' },
      {},
    ].entries())
      for (const agent of ['one', 'two']) {
        const id = await ask({ amount_usd: i + 2 }, agent)
        expect(await children()).toEqual(await usage('company'))
        if (Object.keys(more).length > 0) await settle(id, more)
        expect(await children()).toEqual(await usage('company'))
      }
  })

  it('a value is counted once in a window, also after releases, appends and a rebuild', async () => {
    await set('hourly', { per: 'agent', window: 'rolling_24h', hold_ttl_seconds: 60 })
    await set('month', { per: 'agent', window: 'month' })
    const counted = async () => {
      const rows = await api.remit.db
        .selectFrom('spend_total' as never)
        .selectAll()
        .where('agent_id' as never, 'like', '*values/%' as never)
        .where('org_id' as never, '=', api.org.id as never)
        .orderBy('window_id' as never)
        .execute()
      return (rows as Record<string, unknown>[]).map((row) => [
        row['window_id'],
        Number(row['spent_micro']),
      ])
    }
    for (let i = 0; i < 3; i++)
      await settle(await ask({ amount_usd: 1 }, 'a'), { settle: 'release' })
    await api.ok('appendEntry', { body: { action: 'x', agent_id: 'b', cost_usd: 1 } })
    await ask({ amount_usd: 1 }, 'b')
    clock.advance(2 * MINUTE)
    await ask({ amount_usd: 1 }, 'a')
    clock.advance(60 * MINUTE)
    await ask({ amount_usd: 1 }, 'a')
    await ask({ amount_usd: 1 }, 'c')
    const expected = [
      ['2026-11', 2],
      ['2026-11-26T08', 1],
      ['2026-11-26T09', 1],
    ]
    expect(await counted()).toEqual(expected)
    expect(await differences()).toEqual([])
    await api.remit.db
      .updateTable('spend_total' as never)
      .set({ spent_micro: 7 } as never)
      .where('agent_id' as never, 'like', '*values/%' as never)
      .execute()
    expect(await differences()).toHaveLength(3)
    await accounts().rebuild(api.org.id)
    expect(await counted()).toEqual(expected)
  })

  it('a hold that names the counter of its charge settles and ends like any other', async () => {
    await set('company', { hold_ttl_seconds: 600 })
    await set('each', { per: 'agent' })
    const settled = await ask({ amount_usd: 5 }, 'one')
    await ask({ amount_usd: 4 }, 'two')
    const holds = () => api.remit.db.selectFrom('spend_hold' as never)
    const rows = await holds()
      .select(['decision_id', 'charges'] as never)
      .where('org_id' as never, '=', api.org.id as never)
      .execute()
    for (const { decision_id, charges } of rows as { decision_id: string; charges: string }[]) {
      const old = (JSON.parse(charges) as { uid: string; value?: string }[]).map((charge) => ({
        subject: ['*budget', charge.uid, ...(charge.value ? [charge.value] : [])].join('/'),
        budget: 'company',
        unit: 'usd',
        until: null,
        ...charge,
      }))
      await api.remit.db
        .updateTable('spend_hold' as never)
        .set({ charges: JSON.stringify(old) } as never)
        .where('decision_id' as never, '=', decision_id as never)
        .execute()
    }

    await settle(settled, { cost_usd: 7 })
    expect(await usage('company')).toEqual([7, 4])
    clock.advance(11 * MINUTE)
    await ask({ amount_usd: 1 }, 'one')
    expect(await usage('company')).toEqual([7, 1])
    expect(await differences()).toEqual([])
  })

  it.each([
    [{ amounts: { tokens: -1 } }, 'amounts'],
    [{ amounts: { tokens: 1.5 } }, 'amounts'],
    [{ amounts: { usd: 1 } }, 'amounts'],
    [{ amounts: { calls: 1 } }, 'amounts'],
    [{ amounts: { 'Not a unit': 1 } }, 'amounts'],
    [{ amounts: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`u${i}`, 1])) }, 'amounts'],
    [{ amounts: [1] }, 'amounts'],
    [{ amounts: { tokens: 1 }, settle: 'held', decision_id: 'dec_1' }, 'settle'],
  ])('amounts %j of an append are 400', async (more, path) => {
    const body = { action: 'a.b', agent_id: 'payer', ...more }
    expect(await api.refusal('appendEntry', { body })).toMatchObject({
      status: 400,
      errors: [{ path }],
    })
  })

  it('the ledger alone rebuilds the counters, also of values', async () => {
    await set('company', { window: 'month', time_zone: 'Europe/Berlin', hold_ttl_seconds: 600 })
    await set('each', { per: 'agent', window: 'rolling_24h' })
    await set('gone')
    const first = await ask({ amount_usd: 5 }, 'one')
    await ask({ amount_usd: 4 }, 'two')
    await api.ok('removeBudget', { params: { id: 'gone' } })
    clock.advance(11 * MINUTE)
    await settle(first, { cost_usd: 9 })
    const shown = async () => [
      await usage('company'),
      (await api.ok('getBudgetUsage', { params: { id: 'each' } })).data,
    ]
    const before = await shown()
    expect(await differences()).toEqual([])

    await api.remit.db
      .updateTable('spend_total' as never)
      .set({ spent_micro: 1 } as never)
      .execute()
    expect((await differences()).map((one) => 'budget' in one)).toContain(true)
    await accounts().rebuild(api.org.id)

    expect(await differences()).toEqual([])
    expect(await shown()).toEqual(before)
  })

  it('the course of a budget has its hourly samples, and the current state', async () => {
    await set('company')
    await ask({ amount_usd: 5 })
    await sampleHour(api.remit.db, null, clock.now())
    clock.advance(60 * MINUTE)
    await ask({ amount_usd: 1 })

    expect(await api.ok('getBudgetHistory', { params: { id: 'company' } })).toEqual({
      data: [
        { at: '2026-11-26T09:00:00.000Z', used: 0, held: 5 },
        { at: '2026-11-26T09:30:00.000Z', used: 0, held: 6 },
      ],
      limit: 100,
    })
  })
})
