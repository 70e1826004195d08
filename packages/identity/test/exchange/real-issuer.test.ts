import { TOKEN_EXCHANGE } from '@remit/contract'
import { createOutbound } from '@remit/core/net'
import { createClock, createTestRemit } from '@remit/testing'
import * as client from 'openid-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import identity from '../../src/index.ts'
import { AUDIENCE, BASE_URL, federationOf, JWT } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'
import { DISCOVERY_PATH, JWKS_PATH, startIssuer } from '../support/issuer-server.ts'
import type { IssuerServer } from '../support/issuer-server.ts'
import { createKey } from '../support/tokens.ts'

let server: IssuerServer
let f: Federation

beforeAll(async () => {
  server = await startIssuer(AUDIENCE, { env: 'prod', agent: 'agent-a' })
})
afterAll(() => server.close())

beforeEach(async () => {
  const clock = createClock(new Date().toISOString())
  const remit = await createTestRemit({
    modules: [identity],
    clock,
    outbound: createOutbound({ allowLoopback: true }),
    settings: { baseUrl: BASE_URL },
  })
  const draft = federationOf(remit, clock, await remit.organization(), createKey('none'), '')
  const { id } = await draft.ok<{ id: string }>('/v1/identity/idp', {
    issuer: server.issuer,
    conditions: [
      { claim: 'env', equals: 'prod' },
      { claim: 'client_id', equals: 'ci' },
    ],
    agent: { type: 'claim', claim: 'agent' },
    max_token_age_seconds: 7_200,
    scopes: ['authorize', 'guard'],
  })
  f = federationOf(remit, clock, draft.org, draft.key, id)
  await f.agent('agent-a')
})
afterEach(() => f.remit.close())

/** Past the time between two looks for keys. */
const rest = () => f.clock.advance(31_000)

const latestReason = async () => (await f.entries('token.refused'))[0]?.reason

describe('a real OpenID provider', () => {
  it('signs what an OAuth client exchanges', async () => {
    const config = new client.Configuration(
      { issuer: BASE_URL, token_endpoint: AUDIENCE },
      'pipeline',
      undefined,
      (_as, _client, _body, headers) => headers.set('authorization', `Bearer ${f.org.key}`),
    )
    config[client.customFetch] = (url, { method, headers, body }) =>
      Promise.resolve(
        f.remit.app.request(new URL(url).pathname, {
          method,
          headers,
          body: body instanceof URLSearchParams ? body.toString() : null,
        }),
      )
    const subject = { subject_token: await server.token(), subject_token_type: JWT }
    const answer = await client.genericGrantRequest(config, TOKEN_EXCHANGE, {
      ...subject,
      scope: 'guard',
    })
    expect(answer).toMatchObject({ token_type: 'bearer', scope: 'guard', agent_id: 'agent-a' })
    expect((await f.post('/v1/guard', { content: 'x' }, answer.access_token)).status).toBe(200)
    // It reads refusals too, which it does from no other media type.
    await expect(client.genericGrantRequest(config, TOKEN_EXCHANGE, subject)).rejects.toMatchObject(
      {
        error: 'invalid_grant',
        status: 400,
      },
    )
  })

  it('may rotate its key with overlap: the first token of the new key is good after a rest', async () => {
    const old = await server.token()
    server.rotate({ overlap: true })
    const fresh = await server.token()
    rest()
    expect((await f.exchange(fresh)).status).toBe(200)
    expect((await f.exchange(old)).status).toBe(200)
  })

  it('may rotate without overlap: the old key is gone as soon as the new one is known', async () => {
    const old = await server.token()
    server.rotate({ overlap: false })
    const fresh = await server.token()
    expect((await f.exchange(fresh)).status, 'within the rest').toBe(400)
    rest()
    await f.exchanged(fresh)
    expect((await f.exchange(old)).status).toBe(400)
    expect(await latestReason()).toBe('kid_unknown')
  })

  it('is queried once for unknown keys, however many tokens name them', async () => {
    rest()
    server.rotate({ overlap: false })
    const before = server.hits(JWKS_PATH)
    const tokens = await Promise.all(Array.from({ length: 8 }, () => server.token()))
    const forged = tokens.map((token) => {
      const [, payload, signature] = token.split('.')
      const header = { alg: 'ES256', kid: 'nobody', typ: 'at+jwt' }
      return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.${signature}`
    })
    const answers = await Promise.all(forged.map((token) => f.exchange(token)))
    expect(answers.every(({ status }) => status === 400)).toBe(true)
    await f.exchange(forged[0] ?? '')
    expect(server.hits(JWKS_PATH) - before).toBe(1)
  })

  const json = (body: unknown, status = 200, type = 'application/json') =>
    ((_request, response) => {
      response.writeHead(status, { 'content-type': type })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    }) satisfies Parameters<IssuerServer['fault']>[1]

  const keysOf = (n: number) => {
    const { jwk } = createKey('x')
    return { keys: Array.from({ length: n }, (_, i) => ({ ...jwk, kid: `k${i}` })) }
  }

  it.each([
    ['application/jwk-set+json', 'application/jwk-set+json'],
    ['application/octet-stream', 'application/octet-stream'],
    ['application/vnd.acme.jwks+json', 'application/vnd.acme.jwks+json'],
    ['application/octet-stream', 'text/plain; charset=utf-8'],
    ['application/json', ''],
  ])(
    'has its keys read whatever it calls them: it serves %s, the answer says %j',
    async (accepted, type) => {
      rest()
      server.rotate({ overlap: false })
      const token = await server.token()
      const keys = await (await fetch(`${server.issuer}${JWKS_PATH}`)).text()
      server.fault(JWKS_PATH, (request, response) => {
        const ranges = request.headers.accept?.split(/[,;] */) ?? []
        const isAccepted = ranges.includes(accepted) || ranges.includes('*/*')
        response.writeHead(isAccepted ? 200 : 406, type === '' ? {} : { 'content-type': type })
        response.end(keys)
      })

      expect((await f.exchange(token)).status).toBe(200)
      server.fault(JWKS_PATH, null)
    },
  )

  it.each([
    ['500', JWKS_PATH, json({}, 500), 'http_status'],
    ['a redirect', JWKS_PATH, json('', 302), 'redirected'],
    ['another issuer', DISCOVERY_PATH, json({ issuer: 'https://evil.example' }), 'issuer_differs'],
    ['no place of keys', DISCOVERY_PATH, 'own issuer', 'no_jwks_uri'],
    ['an inner address', DISCOVERY_PATH, 'own issuer, inner keys', 'target_refused'],
    ['HTML', JWKS_PATH, json('<html>', 200, 'text/html'), 'not_json'],
    ['no JSON', JWKS_PATH, json('{'), 'not_json'],
    ['no key set', JWKS_PATH, json({ keys: 'none' }), 'jwks_invalid'],
    ['no keys', JWKS_PATH, json({ keys: [] }), 'no_usable_key'],
    ['101 keys', JWKS_PATH, json(keysOf(101)), 'too_many_keys'],
    ['10,000 keys', JWKS_PATH, json(keysOf(10_000)), 'response_too_large'],
    ['1 MiB', JWKS_PATH, json(`{"x":"${'x'.repeat(1 << 20)}"}`), 'response_too_large'],
  ])(
    'answers with %s: the exchange is refused, and later good again',
    async (_name, path, answer, code) => {
      const inner = code === 'target_refused' ? { jwks_uri: 'https://169.254.169.254/keys' } : {}
      rest()
      server.rotate({ overlap: false })
      const token = await server.token()
      server.fault(
        path,
        typeof answer === 'string' ? json({ issuer: server.issuer, ...inner }) : answer,
      )
      expect((await f.exchange(token)).status).toBe(400)
      expect(await latestReason()).toBe('fetch_failed')
      expect((await f.entries('issuer.fetch_failed'))[0]?.data).toMatchObject({
        idp_id: f.idp,
        error: code,
      })
      const hits = server.hits(path)
      await f.exchange(token)
      expect(server.hits(path), 'also a failure is not repeated at once').toBe(hits)
      server.fault(path, null)
      rest()
      await f.exchanged(token)
    },
  )

  it('may be away for a while, but not for an hour', async () => {
    const [first, second, third] = [
      await server.token(),
      await server.token(),
      await server.token(),
    ]
    server.fault(DISCOVERY_PATH, json({}, 500))
    await f.exchanged(first)
    f.clock.advance(11 * 60_000)
    await f.exchanged(second)
    const state = await f.remit.call('GET', '/v1/identity/idp', { key: f.org.key })
    expect(await state.json()).toMatchObject({ data: [{ keys: { error: 'http_status' } }] })
    f.clock.advance(50 * 60_000)
    expect((await f.exchange(third)).status).toBe(400)
    expect(await latestReason()).toBe('fetch_failed')
    server.fault(DISCOVERY_PATH, null)
    rest()
    await f.exchanged(third)
  })

  it('that is slow is given up after 5 seconds', async () => {
    rest()
    server.rotate({ overlap: false })
    const token = await server.token()
    server.fault(JWKS_PATH, () => undefined)
    expect((await f.exchange(token)).status).toBe(400)
    expect((await f.entries('issuer.fetch_failed'))[0]?.data).toMatchObject({ error: 'timeout' })
    server.fault(JWKS_PATH, null)
  })
})
