import { createApi, DIALECTS } from '@remit/core/testing'
import type { Api } from '@remit/core/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import compliance from '../src/index.ts'

describe.each(DIALECTS)('POST /v1/compliance/verify-ledger on %s', (dialect) => {
  let api: Api

  beforeAll(async () => {
    api = await createApi({ dialect, modules: [compliance] })
  })
  afterAll(() => api.remit.close())

  test('a sound ledger is valid, and the check of it becomes an entry', async () => {
    const verification = await api.ok('verifyLedger', { body: {} })
    expect(verification).toMatchObject({ valid: true, status: 'ok', anchored_by: 'signature' })
  })
})
