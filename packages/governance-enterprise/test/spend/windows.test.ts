import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

describe.each(someDialects())('the windows of a limit on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock('2026-11-29T12:00:00.000Z')
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  const limit = (id: string, body: object) => api.ok('setSpendLimit', { params: { id }, body })
  const ask = (agent_id: string, amount_usd: number) =>
    api.ok('authorize', { body: { agent_id, action: 'a.b', context: { amount_usd } } })

  it('a day ends with 24:00 UTC and a month with its last day', async () => {
    await limit('daily', { daily_usd: 10 })
    await limit('monthly', { monthly_usd: 10 })
    clock.set('2026-11-30T23:59:59.999Z')
    await ask('daily', 10)
    await ask('monthly', 10)
    expect(await ask('daily', 1)).toMatchObject({
      reason: 'spend_limit_daily',
      spend: { daily: { resets_at: '2026-12-01T00:00:00.000Z' } },
    })
    expect(await ask('monthly', 1)).toMatchObject({ reason: 'spend_limit_monthly' })

    clock.set('2026-12-01T00:00:00.000Z')

    expect(await ask('daily', 10)).toMatchObject({ decision: 'allow' })
    expect(await ask('monthly', 10)).toMatchObject({
      decision: 'allow',
      spend: { monthly: { spent_usd: 0, resets_at: '2027-01-01T00:00:00.000Z' } },
    })
  })

  it('a new day does not begin a new month', async () => {
    await limit('both', { daily_usd: 6, monthly_usd: 10 })
    clock.set('2026-12-02T10:00:00.000Z')
    await ask('both', 6)
    clock.set('2026-12-03T10:00:00.000Z')

    expect(await ask('both', 6)).toMatchObject({
      decision: 'deny',
      reason: 'spend_limit_monthly',
      limit_usd: 10,
      spend: { daily: { spent_usd: 0 }, monthly: { spent_usd: 6, remaining_usd: 4 } },
    })
    expect(await ask('both', 4)).toMatchObject({ decision: 'allow' })
  })

  it('a year ends like a month', async () => {
    await limit('yearly', { daily_usd: 1, monthly_usd: 1 })
    clock.set('2026-12-31T23:59:59.999Z')
    await ask('yearly', 1)
    expect((await ask('yearly', 1)).decision).toBe('deny')

    clock.set('2027-01-01T00:00:00.000Z')

    expect((await ask('yearly', 1)).decision).toBe('allow')
  })
})
