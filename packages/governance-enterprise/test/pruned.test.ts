import { verifyDatabase } from '@remit/core/ledger/records'
import { createClock, prune, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const DAY = 24 * 60 * 60 * 1000

describe.each(someDialects())('a pruned ledger over the API, on %s', (dialect) => {
  const clock = createClock('2025-01-01T00:00:00.000Z')
  let api: Api
  let decisionId: string
  let cut: number
  beforeAll(async () => {
    api = await createApi({ dialect, clock })
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { monthly_usd: 100 } })
    const body = { agent_id: 'payer', action: 'payments.pay', context: { amount_usd: 40 } }
    decisionId = (await api.ok('authorize', { body })).decision_id
    // The first entry of a minute ends with a checkpoint that is kept.
    clock.advance(60_000)
    await api.ok('appendEntry', { body: { action: 'old', agent_id: 'payer', cost_usd: 1 } })
    clock.advance(401 * DAY)
    await api.ok('appendEntry', { body: { action: 'new' } })
    cut = (await prune(api, clock)).plan.cut
  })
  afterAll(() => api.remit.close())

  it('410 for pruned entries with the start of the ledger, and 404 for unknown ones', async () => {
    const entry = await api.refusal('getEntry', { params: { seq: cut - 1 } })
    const proof = await api.refusal('getProof', { params: { seq: 0 } })
    const consistency = await api.refusal('getConsistency', { query: { from: 2, to: cut } })
    const unknown = await api.refusal('getEntry', { params: { seq: 9_999 } })

    for (const problem of [entry, proof, consistency]) {
      expect(problem).toMatchObject({ code: 'ledger_pruned', status: 410 })
      expect(problem.detail).toContain(`starts at ${cut}`)
    }
    expect(unknown.code).toBe('ledger_entry_not_found')
    expect(await api.ok('getEntry', { params: { seq: cut } })).toMatchObject({ seq: cut })
  })

  it('exports from the cut on, and refuses to go on from before it', async () => {
    const text = await api.ok('exportEntries')
    const refused = await api.refusal('exportEntries', { query: { after_seq: cut - 2 } })

    expect(text.split('\n')[0]).toContain(`"from_seq":${cut},"start":{"hash":`)
    expect(refused).toMatchObject({ code: 'ledger_pruned', status: 410 })
    await api.ok('exportEntries', { query: { after_seq: cut - 1 } })
  })

  it('lists from the cut on, in either order and by time', async () => {
    const seqs = async (query: Record<string, string | number>) =>
      (await api.ok('listEntries', { query: { limit: 2, ...query } })).data.map(({ seq }) => seq)

    expect(await seqs({ order: 'asc' })).toEqual([cut, cut + 1])
    expect(await seqs({ order: 'asc', after_seq: 0 })).toEqual([cut, cut + 1])
    expect(await seqs({ before_seq: cut })).toEqual([])
    expect(await seqs({ to: '2025-06-01T00:00:00.000Z' })).toEqual([])
  })

  it('settles a decision whose entry is gone, once, and counts it', async () => {
    const body = { action: 'payments.paid', decision_id: decisionId, cost_usd: 25 }
    const settled = await api.ok('appendEntry', { body })
    const again = await api.refusal('appendEntry', { body })

    expect(settled).toMatchObject({ agent_id: 'payer', data: { decision_id: decisionId } })
    expect(again.code).toBe('decision_settled')
    const rows = await api.remit.db
      .selectFrom('spend_total' as 'ledger_head')
      .selectAll()
      .where('org_id', '=', api.org.id)
      .where('window_id' as 'org_id', '=', '2025-01')
      .execute()
    expect(rows).toMatchObject([{ spent_micro: 26_000_000, held_micro: 0 }])
  })

  it('decides by the rules that were made before the cut', async () => {
    const ask = (amount_usd: number) =>
      api.ok('authorize', {
        body: { agent_id: 'payer', action: 'payments.pay', context: { amount_usd } },
      })

    expect(await ask(101)).toMatchObject({ decision: 'deny', reason: 'spend_limit_monthly' })
    expect(await ask(99)).toMatchObject({ decision: 'allow' })
    expect((await verifyDatabase(api.remit.db, api.org.id, { deep: true })).status).toBe('ok')
  })
})
