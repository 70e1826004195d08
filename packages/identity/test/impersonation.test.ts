import { createClock, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, issue, register } from './support/api.ts'

describe.each(someDialects())('an agent that asks as another one, on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  let secret: string
  let id: string
  beforeAll(async () => {
    clock = createClock()
    api = await createApi({ dialect, clock })
    await register(api, 'liar')
    const issued = await issue(api, 'liar')
    secret = issued.secret
    id = issued.credential.id
  })
  afterAll(() => api.remit.close())

  const entries = async () => {
    const kind = 'identity.impersonation.refused'
    const { data } = await api.remit.ledger.list(api.org.id, { limit: 100, order: 'asc', kind })
    return data
  }
  const as = (agent_id: string, key = secret) =>
    api.call('authorize', {
      key,
      body: { agent_id, action: 'a.b' },
      headers: { 'X-Request-Id': 'r1' },
    })

  it('is refused, and the ledger names both before the answer leaves', async () => {
    expect((await as('victim')).status).toBe(403)
    expect(await entries()).toMatchObject([
      {
        actor: { type: 'credential', id },
        agent_id: 'liar',
        reason: 'agent_mismatch',
        data: {
          agent_id: 'liar',
          asked_agent_id: 'victim',
          credential_id: id,
          request_id: 'r1',
        },
      },
    ])
  })

  it('leaves one entry a minute for each name, at most ten, and the rest as a count', async () => {
    clock.advance(60_000)
    const before = (await entries()).length
    for (let i = 0; i < 3; i++) await as('victim')
    for (let i = 0; i < 15; i++) await as(`victim-${i}`)
    const added = (await entries()).slice(before)
    expect(added).toHaveLength(10)
    expect(added[1]?.data).toMatchObject({ asked_agent_id: 'victim-0', unrecorded: 2 })
    clock.advance(60_000)
    await as('victim')
    expect((await entries()).at(-1)?.data).toMatchObject({ unrecorded: 6 })
  })

  it('a key may ask for any agent, and nothing is recorded', async () => {
    const before = (await entries()).length
    expect((await as('victim', api.org.key)).status).toBe(200)
    expect(await entries()).toHaveLength(before)
  })

  it('need not name itself; a key must name the agent', async () => {
    const body = { action: 'a.b' }
    expect(await api.ok('authorize', { key: secret, body })).toMatchObject({ agent_id: 'liar' })
    expect(await api.refusal('authorize', { body })).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'agent_id', message: 'is required with an ingest key' }],
    })
  })
})
