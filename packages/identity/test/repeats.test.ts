import { someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, issue, register } from './support/api.ts'

describe.each(someDialects())('Idempotency-Key of agents on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    await register(api, 'buyer')
    await register(api, 'seller')
  })
  afterAll(() => api.remit.close())

  const check = (key: string, name: string, content = 'hello') =>
    api.call('checkContent', {
      key,
      body: { content },
      headers: { 'idempotency-key': name },
    })
  const secretOf = async (agent: string) => (await issue(api, agent, { scopes: ['guard'] })).secret

  it('gives an agent its answer again, whichever of its credentials it has', async () => {
    const first = await check(await secretOf('buyer'), 'run-1')
    const second = await check(await secretOf('buyer'), 'run-1')

    expect(second.status).toBe(200)
    expect(await second.text()).toBe(await first.text())
  })

  it('neither blocks nor answers another agent, or a key, that chose the same one', async () => {
    await check(await secretOf('buyer'), 'run-2', 'another text')

    for (const key of [await secretOf('seller'), api.org.key]) {
      const answer = await check(key, 'run-2')
      expect(answer.status).toBe(200)
    }
  })

  it('409 for another body of the same agent, whichever of its credentials it has', async () => {
    await check(await secretOf('buyer'), 'run-3')

    const answer = await check(await secretOf('buyer'), 'run-3', 'another text')

    expect(await answer.json()).toMatchObject({ code: 'idempotency_mismatch' })
  })
})
