import { DIALECTS } from '@remit/core/testing'
import type { Api } from '@remit/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, issue, register } from './support/api.ts'

describe.each(DIALECTS)('Idempotency-Key of agents on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    await register(api, 'buyer')
    await register(api, 'seller')
  })
  afterAll(() => api.remit.close())

  const check = (key: string, name: string) =>
    api.call('checkContent', {
      key,
      body: { content: 'hello' },
      headers: { 'idempotency-key': name },
    })
  const secretOf = async (agent: string) => (await issue(api, agent, { scopes: ['guard'] })).secret

  it('gives an agent its answer again, whichever of its credentials it has', async () => {
    const first = await check(await secretOf('buyer'), 'run-1')
    const second = await check(await secretOf('buyer'), 'run-1')

    expect(second.status).toBe(200)
    expect(await second.text()).toBe(await first.text())
  })

  it('409 for another agent, and for a key, which get no answer of the first', async () => {
    await check(await secretOf('buyer'), 'run-2')

    for (const key of [await secretOf('seller'), api.org.key]) {
      const answer = await check(key, 'run-2')
      expect(await answer.json()).toMatchObject({ code: 'idempotency_mismatch' })
    }
  })
})
