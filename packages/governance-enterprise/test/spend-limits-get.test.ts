import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

describe.each(someDialects())('GET /v1/spend-limits/{id} on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock('2026-11-30T23:59:00.000Z')
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  describe('200', () => {
    it('shows caps, and spent, held and settled amounts separately', async () => {
      await api.ok('setSpendLimit', {
        params: { id: 'payer' },
        body: { daily_usd: 10, monthly_usd: 50 },
      })
      await api.ok('appendEntry', { body: { action: 'a.b', agent_id: 'payer', cost_usd: 1.5 } })
      await api.ok('authorize', {
        body: { agent_id: 'payer', action: 'a.b', context: { amount: 2 } },
      })

      expect(await api.ok('getSpendLimit', { params: { id: 'payer' } })).toMatchObject({
        agent_id: 'payer',
        daily_usd: 10,
        monthly_usd: 50,
        spent: { day: { usd: 1.5, held_usd: 2 }, month: { usd: 1.5, held_usd: 2 } },
      })
    })

    it('starts again at 0 with the UTC day and month', async () => {
      clock.set('2026-12-01T00:00:00.000Z')

      const { spent } = await api.ok('getSpendLimit', { params: { id: 'payer' } })

      expect(spent.day).toEqual({
        from: '2026-12-01T00:00:00.000Z',
        usd: 0,
        held_usd: 0,
        resets_at: '2026-12-02T00:00:00.000Z',
      })
      expect(spent.month).toMatchObject({
        usd: 0,
        held_usd: 0,
        resets_at: '2027-01-01T00:00:00.000Z',
      })
    })

    it('no longer counts a hold whose time has passed', async () => {
      await api.ok('setSpendLimit', {
        params: { id: 'brief' },
        body: { daily_usd: 10, hold_ttl_seconds: 60 },
      })
      await api.ok('authorize', {
        body: { agent_id: 'brief', action: 'a.b', context: { amount: 4 } },
      })
      const held = async () =>
        (await api.ok('getSpendLimit', { params: { id: 'brief' } })).spent.day.held_usd

      clock.advance(59_999)
      expect(await held()).toBe(4)
      clock.advance(1)
      expect(await held()).toBe(0)
    })
  })

  it('400 for an id that no limit can have', async () => {
    expect((await api.refusal('getSpendLimit', { params: { id: '*' } })).code).toBe(
      'invalid_request',
    )
  })

  it("404 for an agent without a limit, and the same for another organization's", async () => {
    const other = api.as(await api.remit.organization())
    const { request_id: _, ...unknown } = await other.refusal('getSpendLimit', {
      params: { id: 'nobody' },
    })

    const { request_id: __, ...foreign } = await other.refusal('getSpendLimit', {
      params: { id: 'payer' },
    })

    expect(foreign).toEqual(unknown)
    expect(foreign.code).toBe('spend_limit_not_found')
  })

  it('403 for a key that may only bring data in', async () => {
    const key = await api.remit.key(api.org.id, 'ingest')

    expect((await api.refusal('getSpendLimit', { key, params: { id: 'payer' } })).code).toBe(
      'role_required',
    )
  })
})
