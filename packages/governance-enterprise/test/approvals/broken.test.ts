import { createClock, someDialects } from '@remit/testing'
import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { approved, ask, read, setRule, TRANSFER } from '../support/approvals.ts'

describe.each(someDialects())('approvals that cannot be read on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock: createClock() })
    await setRule(api)
  })
  afterAll(() => api.remit.close())

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

  it('approval_request: denied with an entry, only where a rule matches; nothing is used up', async () => {
    const id = await approved(api)

    await without('approval_request', async () => {
      const denied = await ask(api)
      expect(denied).toMatchObject({ decision: 'deny', reason: 'stage_unavailable' })
      const entry = await api.ok('getEntry', { params: { seq: denied.ledger.seq } })
      expect(entry).toMatchObject({ decision: 'deny', reason: 'stage_unavailable' })
      expect((await ask(api, { ...TRANSFER, action: 'mail.send' })).decision).toBe('allow')
    })

    expect((await read(api, id)).status).toBe('approved')
    expect((await ask(api)).decision).toBe('allow')
  })

  it('approval_rule: everything is denied, since the rules cannot be read', async () => {
    await setRule(api, {}, 'other')

    await without('approval_rule', async () => {
      const denied = await ask(api, { ...TRANSFER, action: 'mail.send' })
      expect(denied).toMatchObject({ decision: 'deny', reason: 'stage_unavailable' })
    })
  })
})
