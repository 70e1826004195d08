import { on } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sampleHour } from '../../src/budgets/samples.ts'
import { spendAccounts } from '../../src/budgets/rebuild.ts'
import type { Tables } from '../../src/tables/schema.ts'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const params = { id: 'payer' }

describe.each(someDialects())('a cap of an hour on %s', (dialect) => {
  let all: Api
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock('2026-11-29T12:00:00.000Z')
    all = await createApi({ dialect, clock })
  })
  beforeEach(async () => {
    clock.set(`${new Date(clock.now() + 86_400_000).toISOString().slice(0, 10)}T12:00:00.000Z`)
    api = all.as(await all.remit.organization())
    await api.ok('setSpendLimit', { params, body: { hourly_usd: 10 } })
  })
  afterAll(() => all.remit.close())

  const later = (minutes: number) => clock.advance(minutes * 60_000)
  const ask = (amount_usd: number) =>
    api.ok('authorize', { body: { agent_id: 'payer', action: 'a.b', context: { amount_usd } } })
  const settle = (decision_id: string, cost_usd: number) =>
    api.ok('appendEntry', { body: { action: 'a.b', decision_id, cost_usd } })
  const hour = async () => (await api.ok('getSpendLimit', { params })).spent.hour

  it('denies beyond it, until the next hour begins', async () => {
    expect((await ask(10)).decision).toBe('allow')
    later(59)
    const denied = await ask(1)
    expect(denied).toMatchObject({ decision: 'deny', reason: 'spend_limit_hourly', limit_usd: 10 })
    expect(denied.spend?.hourly?.resets_at).toBe(new Date(clock.now() + 60_000).toISOString())
    later(1)
    expect((await ask(10)).decision).toBe('allow')
  })

  it('counts what was allowed and appended in the hour before the cap was set', async () => {
    await api.ok('removeSpendLimit', { params })
    await ask(4)
    await api.ok('appendEntry', { body: { action: 'a.b', agent_id: 'payer', cost_usd: 5 } })
    await api.ok('setSpendLimit', { params, body: { hourly_usd: 10 } })

    expect(await hour()).toMatchObject({ usd: 5, held_usd: 4 })
    expect((await ask(2)).decision).toBe('deny')
    expect((await ask(1)).decision).toBe('allow')
  })

  it('gets back what a settlement in the same hour does not use; later ones only add their excess', async () => {
    const first = await ask(10)
    await settle(first.decision_id, 4)
    expect(await hour()).toMatchObject({ usd: 4, held_usd: 0 })
    const second = await ask(6)
    later(60)
    await settle(second.decision_id, 8)
    expect(await hour()).toMatchObject({ usd: 2, held_usd: 0 })
  })

  it('records its thresholds', async () => {
    await ask(8)
    const { data } = await api.ok('listEntries', { query: { kind: 'spend.threshold' } })
    const window = new Date(clock.now()).toISOString().slice(0, 13)
    expect(
      data.map((entry) => [entry.data?.['window'], entry.data?.['threshold_percent']]),
    ).toEqual([80, 50].map((percent) => [window, percent]))
  })

  it('is equal to the ledger, and hours are deleted after two days', async () => {
    const orgId = api.org.id
    const { decision_id } = await ask(3)
    await ask(2)
    later(60)
    await settle(decision_id, 5)
    const accounts = spendAccounts({ db: all.remit.db, clock } as Partial<Deps> as Deps)
    expect(await accounts.compare(orgId)).toMatchObject({ complete: true, differences: [] })
    const hours = async () =>
      (
        await on<Tables>(all.remit.db)
          .selectFrom('spend_total')
          .select('window_id')
          .where('org_id', '=', orgId)
          .execute()
      ).filter(({ window_id }) => window_id.length === 13).length
    expect(await hours()).toBe(2)

    await sampleHour(all.remit.db, null, clock.now() + 3 * 86_400_000)

    expect(await hours()).toBe(0)
    expect(await accounts.compare(orgId)).toMatchObject({
      differences: [{ window: expect.any(String) as string }],
    })
  })
})
