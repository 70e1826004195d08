import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleHour } from '../../src/budgets/samples.ts'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

describe.each(someDialects())('GET /v1/spend-limits/{id}/history on %s', (dialect) => {
  let all: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    all = await createApi({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  const params = { id: 'payer' }
  const limited = async () => {
    const api = all.as(await all.remit.organization())
    await api.ok('setSpendLimit', { params, body: { daily_usd: 100, monthly_usd: 1000 } })
    return api
  }
  const spend = (api: Api, cost_usd: number) =>
    api.ok('appendEntry', { body: { action: 'llm.call', agent_id: 'payer', cost_usd } })
  const hold = (api: Api, amount_usd: number) =>
    api.ok('authorize', {
      body: { agent_id: 'payer', action: 'payments.transfer', context: { amount_usd } },
    })
  const history = (api: Api, window: string) =>
    api.ok('getSpendHistory', { params, query: { window } })

  it('of a day has the totals at the end of each hour, and now', async () => {
    clock.set('2026-11-20T00:30:00.000Z')
    const api = await limited()
    await spend(api, 1.5)
    await sampleHour(all.remit.db, null, clock.now())
    await spend(api, 0.25)
    clock.set('2026-11-20T00:59:00.000Z')
    await sampleHour(all.remit.db, null, clock.now())
    clock.set('2026-11-20T02:10:00.000Z')
    await hold(api, 20)
    await sampleHour(all.remit.db, null, clock.now())
    clock.set('2026-11-20T03:05:00.000Z')
    await spend(api, 2)

    expect(await history(api, 'day')).toEqual({
      data: [
        { at: '2026-11-20T01:00:00.000Z', spent_usd: 1.75, held_usd: 0 },
        { at: '2026-11-20T02:00:00.000Z', spent_usd: 1.75, held_usd: 0 },
        { at: '2026-11-20T03:00:00.000Z', spent_usd: 1.75, held_usd: 20 },
        { at: '2026-11-20T03:05:00.000Z', spent_usd: 3.75, held_usd: 20 },
      ],
      limit_usd: 100,
    })
  })

  it('of a month has the totals at the end of each day, and now', async () => {
    clock.set('2026-11-01T12:00:00.000Z')
    const api = await limited()
    await spend(api, 3)
    clock.set('2026-11-03T12:00:00.000Z')
    await spend(api, 4)
    expect(await history(api, 'month')).toEqual({
      data: [
        { at: '2026-11-02T00:00:00.000Z', spent_usd: 3, held_usd: 0 },
        { at: '2026-11-03T00:00:00.000Z', spent_usd: 3, held_usd: 0 },
        { at: '2026-11-03T12:00:00.000Z', spent_usd: 7, held_usd: 0 },
      ],
      limit_usd: 1000,
    })
  })

  it('begins anew with the day; yesterday is no part of it', async () => {
    clock.set('2026-11-20T23:59:00.000Z')
    const api = await limited()
    await spend(api, 9)
    await sampleHour(all.remit.db, null, clock.now())
    clock.set('2026-11-21T01:00:00.000Z')
    expect((await history(api, 'day')).data).toEqual([
      { at: '2026-11-21T01:00:00.000Z', spent_usd: 0, held_usd: 0 },
      { at: '2026-11-21T01:00:00.000Z', spent_usd: 0, held_usd: 0 },
    ])
  })

  it('is 404 without a limit and for another organization, 400 for another window', async () => {
    const api = await limited()
    const other = all.as(await all.remit.organization())
    expect((await other.refusal('getSpendHistory', { params })).code).toBe('spend_limit_not_found')
    const bad = await api.refusal('getSpendHistory', { params, query: { window: 'year' } })
    expect(bad.code).toBe('invalid_request')
  })
})
