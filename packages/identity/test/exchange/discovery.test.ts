import { setSettings } from '@remit/core/orgs'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, createFederation, JWT } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const PATH = '/.well-known/oauth-authorization-server'

let f: Federation
let clientId: string
beforeAll(async () => {
  f = await createFederation()
  await f.agent('agent-a')
  clientId = `key_${f.org.key.slice(4, 20)}`
})
afterAll(() => f.remit.close())

/** The server in the place of the network. */
const network = (url: string, init: RequestInit): Promise<Response> =>
  Promise.resolve(f.remit.app.request(new URL(url).pathname, init))

describe('openid-client', () => {
  const discovered = (authentication: client.ClientAuth) =>
    client.discovery(new URL(BASE_URL), clientId, undefined, authentication, {
      algorithm: 'oauth2',
      [client.customFetch]: (url, { method, headers, body }) =>
        network(url, {
          method,
          headers,
          body: body instanceof URLSearchParams ? body.toString() : null,
        }),
    })

  it.each([
    ['client_secret_basic', () => client.ClientSecretBasic(f.org.key)],
    ['client_secret_post', () => client.ClientSecretPost(f.org.key)],
  ])('finds the endpoints and uses them with %s', async (_name, authentication) => {
    const config = await discovered(authentication())
    const subject = { subject_token: f.token(), subject_token_type: JWT }

    const answer = await client.genericGrantRequest(config, GRANT, {
      ...subject,
      resource: config.serverMetadata().issuer,
      scope: 'authorize guard',
    })
    expect(answer).toMatchObject({ token_type: 'bearer', agent_id: 'agent-a' })
    expect(await client.tokenIntrospection(config, answer.access_token)).toMatchObject({
      active: true,
      sub: 'agent-a',
    })
    await client.tokenRevocation(config, answer.access_token)
    expect(await client.tokenIntrospection(config, answer.access_token)).toEqual({ active: false })
    await expect(client.genericGrantRequest(config, GRANT, subject)).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    })
  })

  it('reads the refusal of a wrong secret', async () => {
    const config = await discovered(client.ClientSecretPost('wrong'))
    const subject = { subject_token: f.token(), subject_token_type: JWT }
    await expect(client.genericGrantRequest(config, GRANT, subject)).rejects.toMatchObject({
      cause: [{ scheme: 'bearer', parameters: { realm: 'remit', error: 'invalid_token' } }],
    })
  })
})

describe('oauth4webapi', () => {
  const options = {
    [oauth.customFetch]: (
      url: string,
      {
        method,
        headers,
        body,
      }: { method: string; headers: Record<string, string>; body?: unknown },
    ) =>
      network(url, {
        method,
        headers,
        body: body instanceof URLSearchParams ? body.toString() : null,
      }),
  }
  const discovered = async () => {
    const issuer = new URL(BASE_URL)
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options })
    return oauth.processDiscoveryResponse(issuer, response)
  }

  it.each([
    ['client_secret_basic', () => oauth.ClientSecretBasic(f.org.key)],
    ['client_secret_post', () => oauth.ClientSecretPost(f.org.key)],
  ])('finds the endpoints and uses them with %s', async (name, authentication) => {
    const server = await discovered()
    expect(server.token_endpoint_auth_methods_supported).toContain(name)
    const self = { client_id: clientId }
    const grant = server.grant_types_supported?.[0] ?? ''
    const parameters = { subject_token: f.token(), subject_token_type: JWT }

    const response = await oauth.genericTokenEndpointRequest(
      server,
      self,
      authentication(),
      grant,
      parameters,
      options,
    )
    const answer = await oauth.processGenericTokenEndpointResponse(server, self, response)
    expect(answer).toMatchObject({ token_type: 'bearer', agent_id: 'agent-a' })

    const token = answer.access_token
    const asked = await oauth.introspectionRequest(server, self, authentication(), token, options)
    expect(await oauth.processIntrospectionResponse(server, self, asked)).toMatchObject({
      active: true,
    })
    const ended = await oauth.revocationRequest(server, self, authentication(), token, options)
    await oauth.processRevocationResponse(ended)
  })

  it('exchanges without a secret where an organization takes that, as the metadata say', async () => {
    expect((await discovered()).token_endpoint_auth_methods_supported).not.toContain('none')
    await setSettings(f.remit.writer, f.org.id, { keyless_exchange: true })
    const server = await discovered()
    expect(server.token_endpoint_auth_methods_supported).toContain('none')
    const self = { client_id: 'pipeline' }
    const response = await oauth.genericTokenEndpointRequest(
      server,
      self,
      oauth.None(),
      server.grant_types_supported?.[0] ?? '',
      { subject_token: f.token(), subject_token_type: JWT },
      options,
    )
    expect(await oauth.processGenericTokenEndpointResponse(server, self, response)).toMatchObject({
      agent_id: 'agent-a',
    })
  })
})

describe('the metadata', () => {
  it('are answered without a key, and their scopes can be had', async () => {
    const response = await f.remit.call('GET', PATH)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      issuer: BASE_URL,
      token_endpoint: `${BASE_URL}/v1/identity/token`,
      response_types_supported: ['none'],
      scopes_supported: expect.arrayContaining(['authorize', 'trust:check']),
    })
  })

  it('have no list without elements, which RFC 8414 §3.2 forbids', async () => {
    const metadata = (await (await f.remit.call('GET', PATH)).json()) as object
    expect(
      Object.entries(metadata).filter(([, value]) => Array.isArray(value) && !value[0]),
    ).toEqual([])
  })

  const createAt = (baseUrl: string | undefined) =>
    createFederation({ settings: { baseUrl } as { baseUrl?: string } })

  it.each([
    ['https://Gov.Example:443/Remit/', 'https://gov.example/Remit'],
    [undefined, 'http://localhost'],
  ])(
    'with the base URL %s name accepted resources and the default audience',
    async (baseUrl, url) => {
      const own = await createAt(baseUrl)
      try {
        await own.agent('agent-a')
        const response = await own.remit.call('GET', PATH)
        const metadata = (await response.json()) as { issuer: string; token_endpoint: string }
        const { issuer, token_endpoint: aud } = metadata
        expect(issuer).toBe(url)
        for (const resource of [issuer, `${issuer}/`, aud, baseUrl ?? issuer])
          await own.exchanged(own.token({ aud }), { resource })
      } finally {
        await own.remit.close()
      }
    },
  )

  it('of a base URL with a path are found behind a proxy that removes it', async () => {
    const own = await createAt(`${BASE_URL}/remit`)
    const issuer = new URL(`${BASE_URL}/remit`)
    const response = await oauth.discoveryRequest(issuer, {
      algorithm: 'oauth2',
      [oauth.customFetch]: (url: string) =>
        own.remit.call('GET', new URL(url).pathname.replace(`${PATH}/remit`, PATH)),
    })
    await own.remit.close()
    expect(await oauth.processDiscoveryResponse(issuer, response)).toMatchObject({
      token_endpoint: `${BASE_URL}/remit/v1/identity/token`,
    })
  })
})
