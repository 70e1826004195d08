import { isKeyText } from '@remit/core/keys'
import { apiOf, createClock, createTestRemit, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createApi, issue, modules, register } from './support/api.ts'
import { withOtherSecret } from './support/forge.ts'

const NOW = '2026-11-20T08:00:30.500Z'

describe.each(someDialects())('the recorded use of credentials, on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  const decide = (key: string, agent_id: string, on = api) =>
    on.call('authorize', { key, body: { agent_id, action: 'a.b' } })
  const refusals = async (agent: string) => {
    const { data } = await api.remit.ledger.list(api.org.id, {
      limit: 100,
      order: 'asc',
      kind: 'credential.refused',
      agent_id: agent,
    })
    return data
  }
  /** Waits for background work. */
  const eventually = async (count: number, agent: string) => {
    const isThere = async () => (await refusals(agent)).length >= count
    await vi.waitUntil(isThere, { timeout: 60_000, interval: 10 })
    return refusals(agent)
  }

  it('a secret that is used after its end is an entry, once a minute', async () => {
    await register(api, 'leaked')
    const { credential, secret } = await issue(api, 'leaked')
    await api.ok('revokeCredential', { params: { credID: credential.id } })

    for (let i = 0; i < 5; i++) expect((await decide(secret, 'leaked')).status).toBe(401)

    expect(await eventually(1, 'leaked')).toMatchObject([
      {
        actor: { type: 'credential', id: credential.id },
        reason: 'revoked',
        data: { credential_id: credential.id, reason: 'revoked' },
      },
    ])
    clock.advance(60_000)
    await decide(secret, 'leaked')
    expect(await eventually(2, 'leaked')).toHaveLength(2)
  })

  it.runIf(dialect === 'postgres')(
    'one entry per minute, for any number of processes',
    async () => {
      const { url, signingKey } = api.remit
      const there = apiOf(await createTestRemit({ modules, url, signingKey, clock }), api.org)
      await register(api, 'everywhere')
      const { credential, secret } = await issue(api, 'everywhere')
      await api.ok('revokeCredential', { params: { credID: credential.id } })

      await Promise.all([decide(secret, 'everywhere'), decide(secret, 'everywhere', there)])
      await there.remit.close()
      await eventually(1, 'everywhere')
      await register(api, 'after-it')

      expect(await refusals('everywhere')).toHaveLength(1)
    },
  )

  it('a wrong secret for a known credential is no entry: anybody can send that', async () => {
    await register(api, 'probed')
    const { credential, secret } = await issue(api, 'probed')
    await api.ok('revokeCredential', { params: { credID: credential.id } })
    expect(isKeyText(withOtherSecret(secret))).toBe(true)

    expect((await decide(withOtherSecret(secret), 'probed')).status).toBe(401)
    await register(api, 'after-that')

    expect(await refusals('probed')).toEqual([])
  })

  it('when a credential was last used is written to the minute, and never set back', async () => {
    await register(api, 'used')
    const { credential, secret } = await issue(api, 'used')
    const last = async (on: Api) => {
      const { data } = await on.ok('listCredentials', { params: { agentID: 'used' } })
      return data.find(({ id }) => id === credential.id)?.last_used_at
    }
    const { url, signingKey } = api.remit
    const later = createClock(new Date(clock.now() + 300_000).toISOString())

    const process = async (at: TestClock) => {
      const one = apiOf(await createTestRemit({ modules, url, signingKey, clock: at }), api.org)
      await decide(secret, 'used', one)
      // From memory, as most calls are.
      await decide(secret, 'used', one)
      await one.remit.close()
    }
    expect(await last(api)).toBeNull()
    await process(later)
    await process(clock)

    expect(await last(api)).toBe(new Date(Math.floor(later.now() / 60_000) * 60_000).toISOString())
  })
})
