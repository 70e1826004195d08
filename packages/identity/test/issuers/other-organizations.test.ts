import { createTestRemit, someDialects } from '@remit/testing'
import type { TestOrganization, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import identity from '../../src/index.ts'
import { BASE_URL, createFederation, federationOf, issuerInput } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'

describe.each(someDialects())('the trusted issuers of an organization, on %s', (dialect) => {
  let f: Federation
  let other: TestOrganization
  beforeAll(async () => {
    f = await createFederation({ dialect })
    await f.agent('agent-a')
    other = await f.remit.organization()
  })
  afterAll(() => f.remit.close())

  const textOf = async (response: Response) =>
    `${response.status} ${(await response.text()).replace(/"request_id":"[^"]+"/, '')}`
  const remove = (id: string, key: string) =>
    f.remit.call('DELETE', `/v1/identity/idp/${id}`, { key })

  it('is not for others to see or to remove', async () => {
    const foreign = await textOf(await remove(f.idp, other.key))
    expect(foreign).toBe(await textOf(await remove('idp_nothing', other.key)))
    expect(foreign).toMatch(/^404 /)
    const list = await f.remit.call('GET', '/v1/identity/idp', { key: other.key })
    expect(await list.json()).toEqual({ data: [], next_cursor: null })
    await f.exchanged(f.token())
  })

  it('is worth nothing to others: its tokens give no credential, nor name its agents', async () => {
    const theirs = federationOf(f.remit, f.clock, other, f.key, 'none')
    const untrusted = await textOf(await theirs.exchange(f.token()))
    expect((await theirs.entries('token.refused'))[0]).toMatchObject({ reason: 'iss' })
    await theirs.ok('/v1/identity/idp', issuerInput(f.key))
    expect(await textOf(await theirs.exchange(f.token()))).toBe(untrusted)
    expect((await theirs.entries('token.refused'))[0]).toMatchObject({ reason: 'mapping' })
  })
})

it('an agent and a trust policy that one process takes away are gone on the other', async () => {
  const f = await createFederation({ dialect: 'postgres' })
  await f.agent('agent-a')
  await f.agent('agent-b')
  const second: TestRemit = await createTestRemit({
    modules: [identity],
    url: f.remit.url,
    signingKey: f.remit.signingKey,
    clock: f.clock,
    settings: { baseUrl: BASE_URL },
  })
  const question = { source_agent_id: 'agent-a', target_agent_id: 'agent-b', action: 'x' }
  const ask = async (on: Federation) =>
    (await on.ok<{ decision: string }>('/v1/identity/authorize', question)).decision
  const elsewhere = federationOf(second, f.clock, f.org, f.key, f.idp)
  for (let round = 0; round < 20; round++) {
    const { id } = await f.ok<{ id: string }>('/v1/identity/trust', { effect: 'allow' })
    expect(await ask(elsewhere)).toBe('allow')
    await f.remit.call('DELETE', `/v1/identity/trust/${id}`, { key: f.org.key })
    expect(await ask(elsewhere)).toBe('deny')
  }
  await elsewhere.exchanged(f.token())
  await f.remit.call('DELETE', '/v1/identity/agents/agent-a', { key: f.org.key })
  expect((await elsewhere.exchange(f.token())).status).toBe(400)
  await second.close()
  await f.remit.close()
})
