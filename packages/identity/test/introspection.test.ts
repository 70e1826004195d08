import { generateText } from '@remit/core/keys'
import { createClock, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, issue, register } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

describe.each(someDialects())('tools that receive credentials, on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  let tool: string
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
    tool = await api.remit.key(api.org.id, 'ingest')
  })
  afterAll(() => api.remit.close())

  const ask = (token: string, key = tool) =>
    api.ok('introspectCredential', { key, body: { token } })

  describe('POST /v1/identity/introspect', () => {
    it('contains the agent, the scopes and the expiry', async () => {
      await register(api, 'payer')
      const { credential, secret } = await issue(api, 'payer', {
        scopes: ['guard', 'authorize'],
        ttl_seconds: 3600,
      })

      expect(await ask(secret)).toEqual({
        active: true,
        token_type: 'Bearer',
        scope: 'authorize guard',
        sub: 'payer',
        client_id: 'payer',
        iat: Date.parse(NOW) / 1000,
        exp: Date.parse(NOW) / 1000 + 3600,
        agent_id: 'payer',
        credential_id: credential.id,
      })
    })

    it('accepts a form, and ignores further parameters of OAuth clients', async () => {
      await register(api, 'former')
      const { secret } = await issue(api, 'former')

      const body = new URLSearchParams({
        token: secret,
        token_type_hint: 'access_token',
        extra: '1',
      })
      const call = { key: tool, headers: FORM, body: body.toString() }
      expect(await api.ok('introspectCredential', call)).toMatchObject({ active: true })
      const twice = { ...call, body: `${call.body}&token=x` }
      expect((await api.refusal('introspectCredential', twice)).status).toBe(400)
    })

    it('has the current scopes of the agent: a narrowed agent narrows its credentials', async () => {
      await register(api, 'narrowed')
      const { secret } = await issue(api, 'narrowed', { scopes: ['authorize', 'guard'] })

      const body = { allowed_scopes: ['guard', 'scorers'] }
      await api.ok('changeAgent', { params: { agentID: 'narrowed' }, body })

      expect(await ask(secret)).toMatchObject({ active: true, scope: 'guard' })
    })

    it('is exactly {active: false} for everything else', async () => {
      await register(api, 'ended')
      const revoked = await issue(api, 'ended')
      await api.ok('revokeCredential', { params: { credID: revoked.credential.id } })
      const expired = await issue(api, 'ended', { ttl_seconds: 60 })
      await register(api, 'asleep')
      const suspended = await issue(api, 'asleep')
      const sleep = { status: 'suspended', suspended_reason: 'test' }
      await api.ok('changeAgent', { params: { agentID: 'asleep' }, body: sleep })
      await register(api, 'gone')
      const removed = await issue(api, 'gone')
      await api.ok('removeAgent', { params: { agentID: 'gone' } })
      const other = api.as(await api.remit.organization())
      await register(other, 'stranger')
      const foreign = await issue(other, 'stranger')
      clock.advance(60_000)

      const tokens = [revoked, expired, suspended, removed, foreign].map(({ secret }) => secret)
      tokens.push(generateText('rmc_'), generateText('rmf_'), api.org.key, 'x', `${tokens[0]} `)
      for (const token of tokens) {
        const response = await api.call('introspectCredential', { key: tool, body: { token } })
        expect(await response.text()).toBe('{"active":false}')
      }
      expect(
        await other.ok('introspectCredential', { body: { token: foreign.secret } }),
      ).toMatchObject({ active: true })
    })

    it('400 without a token, 403 for keys that only read and for agents themselves', async () => {
      expect((await api.refusal('introspectCredential', { key: tool, body: {} })).status).toBe(400)
      const reader = await api.remit.key(api.org.id, 'read')
      const read = { key: reader, body: { token: 'x' } }
      expect((await api.refusal('introspectCredential', read)).code).toBe('role_required')
      await register(api, 'curious')
      const { secret } = await issue(api, 'curious')
      const own = { key: secret, body: { token: secret } }
      expect((await api.refusal('introspectCredential', own)).code).toBe('principal_not_allowed')
    })
  })

  describe('POST /v1/identity/revoke', () => {
    const revoke = (token: string, key = tool) => api.ok('revokeByText', { key, body: { token } })

    it('ends the credential with its entry; the same again is 200 too', async () => {
      await register(api, 'leaky')
      const { credential, secret } = await issue(api, 'leaky')

      expect(await revoke(secret)).toEqual({})
      const { size } = await api.remit.ledger.head(api.org.id)
      expect(await revoke(secret)).toEqual({})

      expect(await ask(secret)).toEqual({ active: false })
      expect(await api.remit.ledger.entry(api.org.id, size - 1)).toMatchObject({
        kind: 'credential.revoked',
        actor: { type: 'key', id: `key_${tool.slice(4, 20)}` },
        data: { credential: { id: credential.id } },
      })
    })

    it('accepts the public part alone only from an administrator', async () => {
      await register(api, 'masked')
      const { secret } = await issue(api, 'masked')
      const masked = `${secret.slice(0, 20)}${'*'.repeat(49)}`

      await revoke(masked)
      expect(await ask(secret)).toMatchObject({ active: true })
      await revoke(masked, api.org.key)

      expect(await ask(secret)).toEqual({ active: false })
    })

    it('touches no credential of another organization, and does not tell', async () => {
      const other = api.as(await api.remit.organization())
      await register(other, 'theirs')
      const { secret } = await issue(other, 'theirs')
      const { size } = await api.remit.ledger.head(api.org.id)

      for (const key of [tool, api.org.key]) expect(await revoke(secret, key)).toEqual({})

      expect(await other.ok('introspectCredential', { body: { token: secret } })).toMatchObject({
        active: true,
      })
      expect((await api.remit.ledger.head(api.org.id)).size).toBe(size)
    })

    it.each(['x', generateText('rmc_'), generateText('rmk_')])('200 for %s', async (token) => {
      expect(await revoke(token)).toEqual({})
      expect(await revoke(token, api.org.key)).toEqual({})
    })
  })
})
