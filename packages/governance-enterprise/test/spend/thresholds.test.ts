import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { json, startSpendService } from '../support/spend-service.ts'

const params = { id: 'payer' }

/** The thresholds in the ledger, oldest first: percent and window. */
async function toldTo(api: Api): Promise<string[]> {
  const { data } = await api.ok('listEntries', {
    query: { kind: 'spend.threshold', order: 'asc', agent_id: 'payer' },
  })
  return data.map(
    (entry) => `${Number(entry.data?.['threshold_percent'])}% of ${String(entry.data?.['window'])}`,
  )
}

describe.each(someDialects())('spend thresholds on %s', (dialect) => {
  let all: Api
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    all = await createApi({ dialect, clock })
  })
  beforeEach(async () => {
    const tomorrow = new Date(clock.now() + 86_400_000).toISOString()
    clock.set(tomorrow.replace(/T.*/, 'T08:00:00.000Z'))
    api = all.as(await all.remit.organization())
  })
  afterAll(() => all.remit.close())

  const today = () => new Date(clock.now()).toISOString().slice(0, 10)
  const limit = (body: object) => api.ok('setSpendLimit', { params, body })
  const ask = (amount_usd: number) =>
    api.ok('authorize', {
      body: { agent_id: 'payer', action: 'a.b', context: { amount_usd } },
    })
  const append = (body: object) =>
    api.ok('appendEntry', { body: { action: 'a.b', agent_id: 'payer', ...body } })
  const settle = (decision_id: string, cost_usd: number) =>
    api.ok('appendEntry', { body: { action: 'a.b', decision_id, cost_usd } })

  it('an allow that reaches one adds a second entry, once', async () => {
    await limit({ daily_usd: 10 })

    await ask(4)
    const { ledger } = await ask(1)
    await ask(1)
    await ask(5)

    const { data } = await api.ok('listEntries', { query: { kind: 'spend.threshold' } })
    expect(data).toMatchObject([
      {
        seq: ledger.seq + 1,
        agent_id: 'payer',
        actor: { type: 'system', id: 'remit' },
        data: {
          agent_id: 'payer',
          window: today(),
          threshold_percent: 50,
          limit_usd: 10,
          spent_usd: 5,
        },
      },
    ])
  })

  it('a denial reaches none, and nor does an agent without a limit', async () => {
    await limit({ daily_usd: 10 })
    expect((await ask(11)).decision).toBe('deny')
    await api.ok('authorize', {
      body: { agent_id: 'free', action: 'a.b', context: { amount_usd: 1000 } },
    })
    await append({ agent_id: 'free', cost_usd: 1000 })

    expect((await api.ok('listEntries', { query: { kind: 'spend.threshold' } })).data).toEqual([])
  })

  it('requests of the same moment reach each share once', async () => {
    await limit({ daily_usd: 10, monthly_usd: 20 })

    await Promise.all(Array.from({ length: 20 }, () => ask(1)))

    const day = today()
    const shares = [`50% of ${day}`, `80% of ${day}`, `100% of ${day}`]
    const told = await toldTo(api)
    expect(told).toHaveLength(4)
    expect(new Set(told)).toEqual(new Set([...shares, `50% of ${day.slice(0, 7)}`]))
  })

  it('an append that costs something reaches them too, beyond the cap as well', async () => {
    await limit({ daily_usd: 10 })

    await append({ cost_usd: 7 })
    await append({ cost_usd: 7 })
    await append({ cost_usd: 7 })
    await append({})

    expect(await toldTo(api)).toEqual([50, 80, 100].map((percent) => `${percent}% of ${today()}`))
  })

  it('a settlement reaches one only with the excess over the hold', async () => {
    await limit({ daily_usd: 10 })
    const { decision_id } = await ask(6)
    expect(await toldTo(api)).toEqual([`50% of ${today()}`])

    await settle(decision_id, 6)
    expect(await toldTo(api)).toHaveLength(1)
    const second = await ask(1)
    await settle(second.decision_id, 2.5)

    expect(await toldTo(api)).toEqual([`50% of ${today()}`, `80% of ${today()}`])
  })

  it('a share that a release left is recorded again when reached', async () => {
    await limit({ daily_usd: 10 })
    const { decision_id } = await ask(5)
    await settle(decision_id, 0)

    await ask(5)

    expect(await toldTo(api)).toEqual([`50% of ${today()}`, `50% of ${today()}`])
  })

  it('a hold past its end does not count, settled or not', async () => {
    await limit({ daily_usd: 10, hold_ttl_seconds: 60 })
    const late = await ask(4)
    await ask(2)
    expect(await toldTo(api)).toHaveLength(1)
    clock.advance(61_000)

    await append({ cost_usd: 1 })
    expect(await toldTo(api)).toHaveLength(1)
    await settle(late.decision_id, 4)
    expect(await toldTo(api)).toHaveLength(2)
    await append({ cost_usd: 2.9 })
    expect(await toldTo(api)).toHaveLength(2)
    await append({ cost_usd: 0.1 })

    expect(await toldTo(api)).toEqual([50, 50, 80].map((percent) => `${percent}% of ${today()}`))
  })

  it('follows a cap that was changed', async () => {
    await limit({ daily_usd: 100 })
    await append({ cost_usd: 6 })
    await limit({ daily_usd: 10 })

    await append({ cost_usd: 2 })

    expect(await toldTo(api)).toEqual([`80% of ${today()}`])
  })
})

it('where spend is measured outside, decisions reach shares and appends do not', async () => {
  const service = await startSpendService()
  service.answer = json({ usd: 40 })
  const clock = createClock()
  const api = await createApi({ clock, settings: { spendUrl: service.url, spendDeadlineMs: 5000 } })
  await api.ok('setSpendLimit', { params, body: { daily_usd: 100 } })

  await api.ok('appendEntry', { body: { action: 'a.b', agent_id: 'payer', cost_usd: 95 } })
  expect(await toldTo(api)).toEqual([])
  await api.ok('authorize', {
    body: { agent_id: 'payer', action: 'a.b', context: { amount_usd: 10 } },
  })

  expect(await toldTo(api)).toEqual(['50% of 2026-11-20'])
  await api.remit.close()
  await service.stop()
})
