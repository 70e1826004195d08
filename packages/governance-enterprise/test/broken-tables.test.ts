import { createClock, someDialects } from '@remit/testing'
import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

/** A table is out of reach under another name, and comes back with everything in it. */
describe.each(someDialects())('a table that cannot be read on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock: createClock() })
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 10 } })
    await ask('payer', 4)
  })
  afterAll(() => api.remit.close())

  const ask = (agent_id: string, amount_usd?: number) =>
    api.ok('authorize', {
      body: { agent_id, action: 'a.b', context: { amount_usd: amount_usd ?? null } },
    })
  const without = async (table: string, run: () => Promise<void>) => {
    const rename = (from: string, to: string) =>
      api.remit.db.executeQuery(CompiledQuery.raw(`alter table ${from} rename to ${to}`))
    await rename(table, 'away')
    try {
      await run()
    } finally {
      await rename('away', table)
    }
  }
  /** A setting can change every rule, so nothing is known by heart after it. */
  const change = () =>
    api.ok('changeOrganization', { body: { settings: { consequential_actions: ['data.*'] } } })

  it('spend_total: denied with spend_unavailable and an entry, only where there is a limit', async () => {
    await without('spend_total', async () => {
      const denied = await ask('payer', 1)
      expect(denied).toMatchObject({ decision: 'deny', reason: 'spend_unavailable' })
      expect(await api.ok('getEntry', { params: { seq: denied.ledger.seq } })).toMatchObject({
        kind: 'authorization.decided',
        decision: 'deny',
        reason: 'spend_unavailable',
      })
      expect((await ask('unlimited')).decision).toBe('allow')
    })

    expect(await ask('payer', 1)).toMatchObject({
      decision: 'allow',
      spend: { daily: { spent_usd: 4 } },
    })
  })

  it('spend_limit: every agent is denied, since limits cannot be read', async () => {
    await change()

    await without('spend_limit', async () => {
      for (const agent of ['payer', 'unlimited']) {
        expect(await ask(agent, 1)).toMatchObject({ decision: 'deny', reason: 'spend_unavailable' })
      }
    })

    expect((await ask('unlimited', 1)).decision).toBe('allow')
  })

  it('agent_stop: every agent is denied, since stops cannot be read', async () => {
    await change()

    await without('agent_stop', async () => {
      expect(await ask('unlimited', 1)).toMatchObject({
        decision: 'deny',
        reason: 'stage_unavailable',
      })
    })

    expect((await ask('unlimited', 1)).decision).toBe('allow')
  })

  it('spend_hold: 503 without an effect, since amounts cannot be held', async () => {
    await ask('payer', 0)
    const { head } = await api.ok('listEntries')

    await without('spend_hold', async () => {
      const body = { agent_id: 'payer', action: 'a.b', context: { amount_usd: 1 } }
      expect((await api.refusal('authorize', { body })).code).toBe('ledger_unavailable')
    })

    expect((await api.ok('listEntries')).head).toEqual(head)
  })

  it('ledger_entry: 503, and nothing is held without an entry', async () => {
    const before = (await api.ok('getSpendLimit', { params: { id: 'payer' } })).spent

    await without('ledger_entry', async () => {
      const body = { agent_id: 'payer', action: 'a.b', context: { amount_usd: 1 } }
      expect((await api.refusal('authorize', { body })).code).toBe('ledger_unavailable')
    })

    expect((await api.ok('getSpendLimit', { params: { id: 'payer' } })).spent).toEqual(before)
    expect((await ask('payer', 1)).decision).toBe('allow')
  })

  it('one decision that cannot be recorded does not take those of the same moment with it', async () => {
    await without('spend_total', async () => {
      const answers = await Promise.all([
        api.call('authorize', { body: { agent_id: 'x', action: 'a.b' } }),
        api.call('authorize', {
          body: { agent_id: 'unlimited', action: 'a.b', context: { amount_usd: 1 } },
        }),
        api.call('authorize', { body: { agent_id: 'y', action: 'a.b' } }),
      ])

      expect(answers.map(({ status }) => status)).toEqual([200, 503, 200])
    })
  })
})
