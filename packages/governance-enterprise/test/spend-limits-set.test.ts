import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerOf, createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const params = { id: 'payer' }

describe.each(someDialects())('POST /v1/spend-limits/{id} on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  const decide = (agent_id: string, amount_usd: number) =>
    api.ok('authorize', { body: { agent_id, action: 'a.b', context: { amount_usd } } })

  it('201 with the limit, its place and the receipt of its entry', async () => {
    const response = await api.call('setSpendLimit', { params, body: { daily_usd: 12.5 } })

    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe('/v1/spend-limits/payer')
    const limit = await answerOf('setSpendLimit', response)
    expect(limit).toMatchObject({
      agent_id: 'payer',
      daily_usd: 12.5,
      monthly_usd: null,
      on_missing_amount: 'zero',
      hold_ttl_seconds: null,
      settlement_by_agent: 'at_least_held',
      created_at: NOW,
      updated_at: NOW,
      created_by: `key_${api.org.key.slice(4, 20)}`,
      spent: {
        day: {
          from: '2026-11-20T00:00:00.000Z',
          usd: 0,
          held_usd: 0,
          resets_at: '2026-11-21T00:00:00.000Z',
        },
        month: {
          from: '2026-11-01T00:00:00.000Z',
          usd: 0,
          held_usd: 0,
          resets_at: '2026-12-01T00:00:00.000Z',
        },
      },
    })
    const { ledger, spent: _, ...object } = limit
    const entry = await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })
    expect(entry).toMatchObject({
      kind: 'spend_limit.set',
      agent_id: 'payer',
      data: { spend_limit: object },
    })
  })

  describe('200', () => {
    it('replaces the whole limit: omitted members get their default', async () => {
      const full = {
        daily_usd: 1,
        monthly_usd: 2,
        on_missing_amount: 'deny',
        hold_ttl_seconds: 60,
        settlement_by_agent: 'any',
      }
      await api.ok('setSpendLimit', { params, body: full })
      clock.advance(1000)

      const response = await api.call('setSpendLimit', { params, body: { monthly_usd: 3 } })

      expect(response.status).toBe(200)
      expect(response.headers.has('location')).toBe(false)
      expect(await answerOf('setSpendLimit', response)).toMatchObject({
        daily_usd: null,
        monthly_usd: 3,
        on_missing_amount: 'zero',
        hold_ttl_seconds: null,
        settlement_by_agent: 'at_least_held',
        created_at: NOW,
        updated_at: '2026-11-20T08:00:01.000Z',
      })
    })

    it('keeps what was spent, so that a cap below it denies at once', async () => {
      await api.ok('setSpendLimit', { params: { id: 'lowered' }, body: { daily_usd: 100 } })
      expect(await decide('lowered', 60)).toMatchObject({ decision: 'allow' })

      const limit = await api.ok('setSpendLimit', {
        params: { id: 'lowered' },
        body: { daily_usd: 50 },
      })

      expect(limit.spent.day.held_usd).toBe(60)
      expect(await decide('lowered', 0.01)).toMatchObject({
        decision: 'deny',
        spend: { daily: { limit_usd: 50, spent_usd: 60, remaining_usd: 0 } },
      })
    })

    it('opens again when the cap is raised', async () => {
      await api.ok('setSpendLimit', { params: { id: 'raised' }, body: { daily_usd: 1 } })
      expect(await decide('raised', 2)).toMatchObject({ decision: 'deny' })

      await api.ok('setSpendLimit', { params: { id: 'raised' }, body: { daily_usd: 2 } })

      expect(await decide('raised', 2)).toMatchObject({ decision: 'allow' })
    })
  })

  it('counts what an agent spent before it had a limit', async () => {
    await api.ok('appendEntry', { body: { action: 'a.b', agent_id: 'early', cost_usd: 3 } })
    await decide('early', 4)

    const { spent } = await api.ok('setSpendLimit', {
      params: { id: 'early' },
      body: { daily_usd: 8 },
    })

    expect(spent.day).toMatchObject({ usd: 3, held_usd: 4 })
    expect(await decide('early', 1.01)).toMatchObject({ decision: 'deny' })
    expect(await decide('early', 1)).toMatchObject({ decision: 'allow' })
  })

  describe('400', () => {
    it.each([
      ['no cap', {}, 'daily_usd'],
      ['two null caps', { daily_usd: null, monthly_usd: null }, 'daily_usd'],
      ['a negative cap', { daily_usd: -1 }, 'daily_usd'],
      ['more than a billion', { daily_usd: 1e9 + 1 }, 'daily_usd'],
      ['seven decimals', { daily_usd: 0.1234567 }, 'daily_usd'],
      ['text', { daily_usd: '5' }, 'daily_usd'],
      ['a misspelt field', { daily_usd: 5, monthly_us: 5 }, 'monthly_us'],
      [
        'another answer for no amount',
        { daily_usd: 5, on_missing_amount: 'allow' },
        'on_missing_amount',
      ],
      ['a hold of no time', { daily_usd: 5, hold_ttl_seconds: 0 }, 'hold_ttl_seconds'],
      ['half a second', { daily_usd: 5, hold_ttl_seconds: 0.5 }, 'hold_ttl_seconds'],
    ])('%s', async (_, body, path) => {
      const problem = await api.refusal('setSpendLimit', { params, body })

      expect(problem.errors?.map((error) => error.path)).toContain(path)
    })

    it.each([' a', 'a\u00a0b', 'a\u0308', 'a\ufe0f', 'a'.repeat(257), 'a*'])(
      'the id %s',
      async (id) => {
        const problem = await api.refusal('setSpendLimit', {
          params: { id },
          body: { daily_usd: 5 },
        })

        expect(problem.errors?.map((error) => error.path)).toEqual(['id'])
      },
    )
  })

  it('403 for every role but admin', async () => {
    for (const role of ['ingest', 'approver', 'read'] as const) {
      const key = await api.remit.key(api.org.id, role)
      const problem = await api.refusal('setSpendLimit', { params, key, body: { daily_usd: 5 } })
      expect(problem.code).toBe('role_required')
    }
  })
})
