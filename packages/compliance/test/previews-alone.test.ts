import { createApi } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import compliance from '../src/index.ts'

describe('previews where no module has policies', () => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ modules: [compliance] })
  })
  afterAll(() => api.remit.close())

  const REQUEST = { agent_id: 'a', action: 'b' }
  const PERIOD = { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }

  it('say that nothing stands against a request', async () => {
    const answer = await api.ok('dryRunPolicies', { body: REQUEST })

    expect(answer).toMatchObject({ decision: 'allow', reason: 'default_allow', trace: [] })
  })

  it('try no rules, rather than leave them out', async () => {
    const overlay = { add: [{ effect: 'deny' }] }

    for (const refused of [
      await api.refusal('dryRunPolicies', { body: { ...REQUEST, overlay } }),
      await api.refusal('replayPolicies', { body: { ...PERIOD, overlay } }),
      await api.refusal('replayPolicies', { body: PERIOD }),
    ]) {
      expect(refused).toMatchObject({
        code: 'not_found',
        detail: 'No installed module provides policies',
      })
    }
  })
})
