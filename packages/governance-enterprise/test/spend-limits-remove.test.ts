import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const params = { id: 'payer' }

describe.each(someDialects())('DELETE /v1/spend-limits/{id} on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  beforeEach(() => api.ok('setSpendLimit', { params, body: { daily_usd: 0 } }))
  afterAll(() => api.remit.close())

  it('204, with an entry, and the next decision knows no limit', async () => {
    const body = { agent_id: 'payer', action: 'a.b', context: { amount_usd: 7 } }
    expect(await api.ok('authorize', { body })).toMatchObject({ decision: 'deny' })

    await api.ok('removeSpendLimit', { params })

    expect(await api.ok('authorize', { body })).toMatchObject({ decision: 'allow' })
    const { data } = await api.ok('listEntries', { query: { kind: 'spend_limit.removed' } })
    const spend_limit = { agent_id: 'payer', daily_usd: 0, monthly_usd: null }
    expect(data).toMatchObject([{ agent_id: 'payer', data: { agent_id: 'payer', spend_limit } }])
  })

  it('404 the second time', async () => {
    await api.ok('removeSpendLimit', { params })

    expect((await api.refusal('removeSpendLimit', { params })).code).toBe('spend_limit_not_found')
  })

  it('404 leaves no entry behind', async () => {
    await api.ok('removeSpendLimit', { params })
    const { head } = await api.ok('listEntries')

    await api.refusal('removeSpendLimit', { params })

    expect((await api.ok('listEntries')).head).toEqual(head)
  })

  it("404 for another organization's limit, which stays", async () => {
    const other = api.as(await api.remit.organization())

    expect((await other.refusal('removeSpendLimit', { params })).code).toBe('spend_limit_not_found')
    expect(await api.ok('getSpendLimit', { params })).toMatchObject({ daily_usd: 0 })
  })

  it('403 for every role but admin', async () => {
    for (const role of ['ingest', 'approver', 'read'] as const) {
      const key = await api.remit.key(api.org.id, role)
      expect((await api.refusal('removeSpendLimit', { params, key })).code).toBe('role_required')
    }
  })
})
