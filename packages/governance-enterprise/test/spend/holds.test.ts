import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const params = { id: 'payer' }

describe.each(someDialects())('holds on %s', (dialect) => {
  let all: Api
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    all = await createApi({ dialect, clock })
  })
  beforeEach(async () => {
    clock.set(new Date(clock.now() + 86_400_000).toISOString().replace(/T.*/, 'T08:00:00.000Z'))
    api = all.as(await all.remit.organization())
  })
  afterAll(() => all.remit.close())

  const limit = (body: object) => api.ok('setSpendLimit', { params, body })
  const ask = (amount_usd?: number) =>
    api.ok('authorize', {
      body: {
        agent_id: 'payer',
        action: 'a.b',
        context: { ...(amount_usd !== undefined && { amount_usd }) },
      },
    })
  const settle = (decision_id: string, cost_usd: number) =>
    api.ok('appendEntry', { body: { action: 'a.b', decision_id, cost_usd } })
  const spent = async () => (await api.ok('getSpendLimit', { params })).spent

  it('an allow holds its amount at once, a denial holds nothing', async () => {
    await limit({ daily_usd: 10 })

    const answers = [await ask(6), await ask(6), await ask(4), await ask(0.000001)]

    expect(answers.map(({ decision }) => decision)).toEqual(['allow', 'deny', 'allow', 'deny'])
    expect(answers.map(({ spend }) => spend?.daily?.remaining_usd)).toEqual([10, 4, 4, 0])
    expect(await spent()).toMatchObject({ day: { usd: 0, held_usd: 10 } })
  })

  it('two of the same moment cannot both have the last dollar', async () => {
    await limit({ daily_usd: 10 })

    const answers = await Promise.all([ask(6), ask(6), ask(6)])

    expect(answers.map(({ decision }) => decision).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'allow',
      'deny',
      'deny',
    ])
  })

  it('settling for less makes room, settling for more takes it', async () => {
    await limit({ daily_usd: 10 })
    const first = await ask(6)
    await settle(first.decision_id, 1)
    const second = await ask(9)
    expect(second.decision).toBe('allow')

    await settle(second.decision_id, 12)

    expect(await spent()).toMatchObject({ day: { usd: 13, held_usd: 0 } })
    expect(await ask(0)).toMatchObject({
      decision: 'deny',
      spend: { daily: { spent_usd: 13, remaining_usd: 0 } },
    })
  })

  it('a released hold makes room for the same amount', async () => {
    await limit({ daily_usd: 10 })
    const { decision_id } = await ask(10)
    expect((await ask(1)).decision).toBe('deny')

    await settle(decision_id, 0)

    expect((await ask(10)).decision).toBe('allow')
  })

  it('a hold ends with its hold_ttl_seconds, to the millisecond', async () => {
    await limit({ daily_usd: 10, hold_ttl_seconds: 60 })
    const { ledger } = await ask(10)
    const entry = await api.ok('getEntry', { params: { seq: ledger.seq } })
    const ends = new Date(clock.now() + 60_000).toISOString()
    expect(entry.data).toMatchObject({ hold: { usd: 10, expires_at: ends } })

    clock.advance(59_999)
    expect((await ask(1)).decision).toBe('deny')
    clock.advance(1)
    expect((await ask(10)).decision).toBe('allow')
  })

  it('keeps the end that it was given, whatever becomes of the limit', async () => {
    await limit({ daily_usd: 10, hold_ttl_seconds: 60 })
    await ask(10)
    await limit({ daily_usd: 10 })
    const { decision_id } = await ask(0)
    expect(decision_id).toMatch(/^dec_/)

    clock.advance(60_000)

    expect((await ask(10)).decision).toBe('allow')
    clock.advance(3_600_000)
    expect((await ask(1)).decision).toBe('deny')
  })

  it('a hold that has ended can be settled late, once, and counts on the day of the report', async () => {
    await limit({ daily_usd: 10, hold_ttl_seconds: 60 })
    const { decision_id } = await ask(8)
    clock.advance(86_400_000)

    await settle(decision_id, 8)

    expect(await spent()).toMatchObject({ day: { usd: 8, held_usd: 0 } })
    expect((await ask(3)).decision).toBe('deny')
    const again = await api.refusal('appendEntry', {
      body: { action: 'a.b', decision_id, cost_usd: 8 },
    })
    expect(again.code).toBe('decision_settled')
  })

  it('does the same when the end was noticed before the report', async () => {
    await limit({ daily_usd: 10, hold_ttl_seconds: 60 })
    const { decision_id } = await ask(8)
    clock.advance(86_400_000)
    await ask(0)

    await settle(decision_id, 8)

    expect(await spent()).toMatchObject({ day: { usd: 8, held_usd: 0 } })
  })

  it('a hold without an end is settled to its own day, which may be over', async () => {
    await limit({ daily_usd: 10 })
    const { decision_id } = await ask(8)
    clock.advance(86_400_000)

    await settle(decision_id, 9)

    expect(await spent()).toMatchObject({ day: { usd: 1 } })
  })

  it('a denied decision holds nothing that could be settled', async () => {
    await limit({ daily_usd: 1 })
    const { decision_id } = await ask(8)

    const problem = await api.refusal('appendEntry', {
      body: { action: 'a.b', decision_id, cost_usd: 8 },
    })

    expect(problem.code).toBe('decision_not_found')
    expect(await spent()).toMatchObject({ day: { usd: 0 } })
  })

  it('without an amount the cap must not be reached, and nothing is held', async () => {
    await limit({ daily_usd: 10 })
    await ask(9.999999)

    expect((await ask()).decision).toBe('allow')
    expect((await ask(0.000001)).decision).toBe('allow')
    expect(await ask()).toMatchObject({
      decision: 'deny',
      reason: 'spend_limit_daily',
      spend: { amount_usd: null },
    })
  })

  it('without an amount it is denied where the limit asks for one', async () => {
    await limit({ daily_usd: 10, on_missing_amount: 'deny' })

    expect(await ask()).toMatchObject({ decision: 'deny', reason: 'amount_invalid' })
    expect((await ask(1)).decision).toBe('allow')
  })

  it.each([
    [{ amount_usd: '5' }],
    [{ amount_usd: -1 }],
    [{ amount_usd: 0.1234567 }],
    [{ amount_usd: 'NaN' }],
    [{ amount: 5, currency: 'EUR' }],
  ])(
    '%j is no amount: denied where there is a limit, with its entry, and allowed where there is none',
    async (context) => {
      await limit({ daily_usd: 10 })

      const answer = await api.ok('authorize', {
        body: { agent_id: 'payer', action: 'a.b', context },
      })
      const free = await api.ok('authorize', {
        body: { agent_id: 'unlimited', action: 'a.b', context },
      })

      expect(answer).toMatchObject({ decision: 'deny', reason: 'amount_invalid' })
      expect(await api.ok('getEntry', { params: { seq: answer.ledger.seq } })).toMatchObject({
        reason: 'amount_invalid',
        data: { context },
      })
      expect(free.decision).toBe('allow')
      // A report must not take it for a request that spends nothing.
      expect(await api.ok('getEntry', { params: { seq: free.ledger.seq } })).toMatchObject({
        data: { amount_invalid: true },
      })
      expect(await spent()).toMatchObject({ day: { usd: 0, held_usd: 0 } })
    },
  )

  it('cap 0 denies everything', async () => {
    await limit({ monthly_usd: 0 })

    for (const amount of [undefined, 0, 1]) {
      expect(await ask(amount)).toMatchObject({
        decision: 'deny',
        reason: 'spend_limit_monthly',
        limit_usd: 0,
      })
    }
  })

  it('an agent without a limit spends freely, without spend data in responses', async () => {
    const answer = await ask(1e9)

    expect(answer.decision).toBe('allow')
    expect(answer).not.toHaveProperty('spend')
  })
})
