import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

describe.each(someDialects())('GET /v1/ledger/{seq} on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  afterAll(() => api.remit.close())

  it('200 for the genesis, which pins identity and key of the ledger', async () => {
    const genesis = await api.ok('getEntry', { params: { seq: 0 } })

    expect(genesis).toMatchObject({
      seq: 0,
      kind: 'ledger.genesis',
      prev_hash: '0'.repeat(64),
      data: { org_id: api.org.id, vkey: expect.stringContaining('remit.test/ledger/') },
    })
  })

  it('200 for every entry, each linked to the one before', async () => {
    const entries = await Promise.all(
      [0, 1, 2].map((seq) => api.ok('getEntry', { params: { seq } })),
    )

    expect(entries.map((entry) => entry.prev_hash).slice(1)).toEqual(
      entries.map((entry) => entry.hash).slice(0, -1),
    )
  })

  it.each(['-1', '01', '1.0', 'x', '9007199254740992', '0x1'])('400 for %s', async (seq) => {
    expect((await api.refusal('getEntry', { params: { seq } })).code).toBe('invalid_request')
  })

  it('404 for the next entry and for one far away', async () => {
    for (const seq of [3, Number.MAX_SAFE_INTEGER]) {
      expect((await api.refusal('getEntry', { params: { seq } })).code).toBe(
        'ledger_entry_not_found',
      )
    }
  })

  it('404 for a number that only the ledger of another organization has', async () => {
    await api.ok('appendEntry', { body: { action: 'x.y' } })
    const other = api.as(await api.remit.organization())

    expect((await other.refusal('getEntry', { params: { seq: 3 } })).code).toBe(
      'ledger_entry_not_found',
    )
  })
})
