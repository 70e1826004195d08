import { TOKEN_EXCHANGE } from '@remit/contract'
import { resumeOrganization, setSettings, suspendOrganization } from '@remit/core/orgs'
import { createTestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import identity from '../../src/index.ts'
import { createFederation, issuerInput, JWT } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'

describe('an exchange without an ingest key', () => {
  let f: Federation
  beforeAll(async () => {
    f = await createFederation()
    await f.agent('agent-a')
  })
  afterAll(() => f.remit.close())

  const keyless = (token: string, client?: { readonly client_id: string }) =>
    f.remit.call('POST', '/v1/identity/token', {
      body: {
        grant_type: TOKEN_EXCHANGE,
        subject_token: token,
        subject_token_type: JWT,
        ...client,
      },
    })

  it('is refused unless the organization wants it', async () => {
    const refused = await keyless(f.token())
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ error: 'invalid_client' })
    const other = await f.remit.organization()
    await setSettings(f.remit.writer, other.id, { keyless_exchange: true })
    const unknown = await keyless(f.token())
    expect(unknown.status).toBe(400)
    expect(await unknown.json()).toMatchObject({ error: 'invalid_grant' })
    expect(await f.entries('token.refused')).toHaveLength(0)
  })

  it('finds the organization by issuer and audience, and names the issuer as the actor', async () => {
    await setSettings(f.remit.writer, f.org.id, { keyless_exchange: true })
    const answer = await keyless(f.token())
    expect(answer.status).toBe(200)
    const { access_token: bearer } = (await answer.json()) as { access_token: string }
    expect((await f.post('/v1/guard', { content: 'x' }, bearer)).status).toBe(200)
    expect((await f.entries('token.exchanged'))[0]?.actor).toEqual({ type: 'issuer', id: f.idp })
    expect((await keyless(f.token({ env: 'test' }))).status).toBe(400)
    expect((await f.entries('token.refused'))[0]?.reason).toBe('condition')
  })

  it('is refused where two organizations could be meant', async () => {
    const other = await f.remit.organization()
    await f.ok('/v1/identity/idp', issuerInput(f.key), other.key)
    expect((await keyless(f.token())).status).toBe(200)
    await setSettings(f.remit.writer, other.id, { keyless_exchange: true })
    expect((await keyless(f.token())).status).toBe(400)
  })

  it('is not stopped by an organization that registers the same issuer, where client_id names its own', async () => {
    const granted = await keyless(f.token(), { client_id: f.org.id })
    expect(granted.status).toBe(200)
    expect(await granted.json()).toMatchObject({ agent_id: 'agent-a' })
    const unknown = await f.remit.organization()
    expect((await keyless(f.token(), { client_id: unknown.id })).status).toBe(400)
  })

  it('issues nothing while the organization is suspended', async () => {
    await suspendOrganization(f.remit.writer, f.org.id)
    const refused = await keyless(f.token(), { client_id: f.org.id })
    const issued = await f.entries('credential.issued')
    await resumeOrganization(f.remit.writer, f.org.id)

    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'organization_suspended' })
    expect(await f.entries('credential.issued')).toEqual(issued)
    expect((await keyless(f.token(), { client_id: f.org.id })).status).toBe(200)
  })

  it('is 401 under a license whose plan has no exchange', async () => {
    const { url, signingKey } = f.remit
    const team = await createTestRemit({
      url,
      signingKey,
      modules: [identity],
      clock: f.clock,
      planCeiling: 'team',
    })
    const response = await team.call('POST', '/v1/identity/token', {
      body: {
        grant_type: TOKEN_EXCHANGE,
        subject_token: f.token(),
        subject_token_type: JWT,
        client_id: f.org.id,
      },
    })
    const metadata = await team.call('GET', '/.well-known/oauth-authorization-server')
    await team.close()
    expect(response.status).toBe(401)
    const { token_endpoint_auth_methods_supported: methods } = (await metadata.json()) as {
      token_endpoint_auth_methods_supported: string[]
    }
    expect(methods).toEqual(['client_secret_basic', 'client_secret_post'])
  })

  it('does not stand in for a key that is wrong', async () => {
    expect((await f.exchange(f.token(), {})).status).toBe(200)
    const response = await f.remit.call('POST', '/v1/identity/token', {
      key: `${f.org.key.slice(0, -1)}!`,
      body: { grant_type: TOKEN_EXCHANGE, subject_token: f.token(), subject_token_type: JWT },
    })
    expect(response.status).toBe(401)
  })
})
