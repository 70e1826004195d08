import type { EndpointName } from '@remit/contract'
import { someDialects } from '@remit/testing'
import type { Api, CallOptions } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, issue, register } from './support/api.ts'

describe.each(someDialects())("another organization's ids on %s", (dialect) => {
  let api: Api
  let theirs: Api
  let credential: string
  beforeAll(async () => {
    api = await createApi({ dialect })
    theirs = api.as(await api.remit.organization())
    await register(theirs, 'known-agent')
    await register(api, 'own-agent')
    credential = (await issue(theirs, 'known-agent')).credential.id
  })
  afterAll(() => api.remit.close())

  const agent = (id: string) => ({ params: { agentID: id } })
  const cases: readonly [EndpointName, (agentId: string, credId: string) => CallOptions][] = [
    ['getAgent', (id) => agent(id)],
    ['changeAgent', (id) => ({ ...agent(id), body: { name: 'x' } })],
    ['removeAgent', (id) => agent(id)],
    ['listCredentials', (id) => agent(id)],
    ['issueCredential', (id) => ({ ...agent(id), body: { scopes: ['guard'] } })],
    [
      'issueCredential',
      (_, credId) => ({ ...agent('own-agent'), body: { rotate: { credential_id: credId } } }),
    ],
    ['revokeCredential', (_, credId) => ({ params: { credID: credId } })],
  ]

  it.each(cases)('%s answers as for an unknown id, byte for byte', async (name, call) => {
    const answer = async (agentId: string, credId: string) => {
      const response = await api.call(name, call(agentId, credId))
      const body = (await response.text()).replace(/"request_id":"[^"]+"/, '')
      const headers = [...response.headers].filter(([field]) => field !== 'x-request-id')
      return JSON.stringify([response.status, headers, body])
        .replaceAll(agentId, '')
        .replaceAll(credId, '')
    }

    const foreign = await answer('known-agent', credential)

    expect(foreign).toBe(await answer('unknown-agent', `cred_${'0'.repeat(16)}`))
    expect(foreign).toMatch(/^\[404,/)
  })

  it('an agent id is free in each organization', async () => {
    expect((await register(api, 'known-agent')).agent_id).toBe('known-agent')
  })
})
