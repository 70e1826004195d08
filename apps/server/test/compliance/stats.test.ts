import { apiOf, createApi, createClock, createTestRemit, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasModules, loadModules } from '../../src/boot/modules.ts'

describe.skipIf(!hasModules()).each(someDialects())('GET /v1/stats on %s', (dialect) => {
  let first: Api
  let second: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock('2026-11-20T08:00:30.000Z')
    const modules = await loadModules()
    const settings = { watchEveryMs: 20 }
    first = await createApi({ dialect, clock, modules, settings })
    const { url, signingKey } = first.remit
    // Two processes count: each entry must be counted once.
    second = apiOf(await createTestRemit({ url, clock, modules, settings, signingKey }), first.org)
  })
  afterAll(async () => {
    await second.remit.close()
    await first.remit.close()
  })

  const ask = (agent_id: string, amount_usd: number, action = 'payments.transfer') =>
    first.ok('authorize', { body: { agent_id, action, context: { amount_usd } } })

  /** The counts once everything is counted. */
  async function stats(query: Record<string, string>) {
    const { head } = await first.ok('listEntries', { query: { limit: 1 } })
    return vi.waitFor(
      async () => {
        const { data, up_to_seq } = await first.ok('getStats', { query })
        expect(up_to_seq).toBe(head.seq)
        return data
      },
      { timeout: 60_000 },
    )
  }

  it('counts each decision once, by time and fact, with the amounts of allows', async () => {
    const { id } = await first.ok('createPolicy', {
      body: { effect: 'deny', agents: ['denied'], actions: ['payments.*'] },
    })
    await first.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 100 } })
    await ask('payer', 10)
    await ask('payer', 20.5)
    await ask('denied', 30)
    clock.set('2026-11-20T08:01:00.000Z')
    await ask('payer', 1000)
    clock.set('2026-11-20T09:00:00.000Z')
    await ask('payer', 1)

    const minutes = { bucket: 'minute', from: '2026-11-20T08:00:00Z', to: '2026-11-20T10:00:00Z' }
    const at = (time: string) => `2026-11-20T${time}:00.000Z`
    expect(await stats({ ...minutes, by: 'decision' })).toEqual([
      { from: at('08:00'), key: 'allow', count: 2, amount_usd: 30.5 },
      { from: at('08:00'), key: 'deny', count: 1, amount_usd: 0 },
      { from: at('08:01'), key: 'deny', count: 1, amount_usd: 0 },
      { from: at('09:00'), key: 'allow', count: 1, amount_usd: 1 },
    ])
    const hours = { ...minutes, bucket: 'hour' }
    expect(await stats({ ...hours, by: 'agent' })).toEqual([
      { from: at('08:00'), key: 'denied', count: 1, amount_usd: 0 },
      { from: at('08:00'), key: 'payer', count: 3, amount_usd: 30.5 },
      { from: at('09:00'), key: 'payer', count: 1, amount_usd: 1 },
    ])
    expect(await stats({ ...hours, by: 'policy' })).toEqual([
      { from: at('08:00'), key: id, count: 1, amount_usd: 0 },
    ])
    expect(await stats({ ...hours, by: 'reason', from: '2026-11-20T09:00:00Z' })).toEqual([
      { from: at('09:00'), key: 'default_allow', count: 1, amount_usd: 1 },
    ])
    expect(await stats({ ...hours, by: 'denied_agent' })).toEqual([
      { from: at('08:00'), key: 'denied', count: 1, amount_usd: 0 },
      { from: at('08:00'), key: 'payer', count: 1, amount_usd: 0 },
    ])
    expect(await stats({ ...hours, by: 'denied_action' })).toEqual([
      { from: at('08:00'), key: 'payments.transfer', count: 2, amount_usd: 0 },
    ])
    expect(await stats({ ...hours, by: 'agent', key: 'denied' })).toEqual([
      { from: at('08:00'), key: 'denied', count: 1, amount_usd: 0 },
    ])
    const days = { bucket: 'day', from: '2026-11-19T00:00:00Z', to: '2026-11-21T00:00:00Z' }
    expect(await stats({ ...days, by: 'action' })).toEqual([
      { from: at('00:00'), key: 'payments.transfer', count: 5, amount_usd: 31.5 },
    ])
    expect(await stats({ ...hours, to: '2026-11-20T09:00:00Z', by: 'decision' })).toHaveLength(2)
  })

  it('counts rare values together', async () => {
    await Promise.all(Array.from({ length: 60 }, (_, i) => ask(`rare-${i}`, 0, 'mail.send')))
    const query = { bucket: 'hour', from: '2026-11-20T08:00:00Z', to: '2026-11-20T10:00:00Z' }
    const data = await stats({ ...query, by: 'agent' })
    const at9 = data.filter(({ from }) => from === '2026-11-20T09:00:00.000Z')
    expect(at9.reduce((sum, { count }) => sum + count, 0)).toBe(61)
    expect(new Set(data.map(({ key }) => key)).size).toBe(51)
    expect(at9.find(({ key }) => key === '*')?.count).toBeGreaterThan(0)
  })

  it('shows nothing of another organization', async () => {
    const other = first.as(await first.remit.organization())
    expect((await other.ok('getStats')).data).toEqual([])
  })

  it.each([
    { from: 'yesterday' },
    { bucket: 'year' },
    { by: 'key' },
    { from: '2026-11-20T08:00:00Z', to: '2026-11-20T08:00:00Z' },
    { from: '2020-11-20T08:00:00Z', to: '2026-11-20T08:00:00Z' },
  ])('%j is refused', async (query) => {
    expect((await first.refusal('getStats', { query })).code).toBe('invalid_request')
  })

  it('counts each observed rule of a decision by what it would have decided', async () => {
    const body = { effect: 'deny', agents: ['observed'], mode: 'observe' } as const
    const { id } = await first.ok('createPolicy', { body })
    clock.set('2026-11-20T11:00:30.000Z')
    await ask('observed', 10)
    await ask('observed', 20)
    await ask('other', 20)

    const hour = { bucket: 'hour', from: '2026-11-20T11:00:00Z', to: '2026-11-20T12:00:00Z' }
    expect(await stats({ ...hour, by: 'observed' })).toMatchObject([
      { key: `policy:${id}:deny`, count: 2 },
    ])
  })
})
