import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

describe.each(someDialects())('GET /v1/spend-holds on %s', (dialect) => {
  let all: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    all = await createApi({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  const hold = async (api: Api, agent_id: string, amount_usd: number) => {
    const { decision_id } = await api.ok('authorize', {
      body: { agent_id, action: 'payments.transfer', context: { amount_usd } },
    })
    clock.set(new Date(clock.now() + 1_000).toISOString())
    return decision_id
  }
  const settle = (api: Api, decision_id: string) =>
    api.ok('appendEntry', { body: { action: 'payments.transfer', decision_id, settle: 'held' } })

  it('200 with what nothing has settled, oldest first, page by page and by agent', async () => {
    clock.set('2026-11-20T08:00:00.000Z')
    const api = all.as(await all.remit.organization())
    const first = await hold(api, 'payer', 20)
    const settled = await hold(api, 'payer', 30)
    const other = await hold(api, 'buyer', 0.000001)
    await hold(api, 'payer', 0)
    await settle(api, settled)
    await api.ok('appendEntry', { body: { action: 'a.b', decision_id: first } })

    const { data, next_cursor } = await api.ok('listSpendHolds', { query: { limit: 1 } })
    expect(data).toEqual([
      {
        decision_id: first,
        agent_id: 'payer',
        amount_usd: 20,
        held_at: '2026-11-20T08:00:00.000Z',
        expires_at: null,
      },
    ])
    const rest = await api.ok('listSpendHolds', { query: { cursor: next_cursor! } })
    expect(rest).toMatchObject({
      data: [{ decision_id: other, amount_usd: 0.000001 }],
      next_cursor: null,
    })
    const own = await api.ok('listSpendHolds', { query: { agent_id: 'buyer' } })
    expect(own.data.map(({ decision_id }) => decision_id)).toEqual([other])
  })

  it('200 without holds that have expired, and without those of other organizations', async () => {
    const api = all.as(await all.remit.organization())
    await api.ok('setSpendLimit', {
      params: { id: 'payer' },
      body: { daily_usd: 100, hold_ttl_seconds: 60 },
    })
    const id = await hold(api, 'payer', 20)
    const open = await api.ok('listSpendHolds')
    expect(open.data).toMatchObject([{ decision_id: id, expires_at: expect.any(String) }])
    clock.set(open.data[0]!.expires_at!)

    expect(await api.ok('listSpendHolds')).toEqual({ data: [], next_cursor: null })
  })

  it.each([{ limit: 0 }, { agent_id: '*' }, { state: 'held' }])('400 for %j', async (query) => {
    expect((await all.refusal('listSpendHolds', { query })).code).toBe('invalid_request')
  })
})
