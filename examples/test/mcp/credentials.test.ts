import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text as textIn } from 'node:stream/consumers'
import { createClient } from '@remit/contract/client'
import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { governed, ownProgram } from './support/gateway.ts'
import { connect, startCounting, startGateway } from './support/http.ts'
import { envelope, MODERN } from './support/messages.ts'

const isRun = inFullRun('credentials at the gateway') && hasModules()

const ISSUER = 'https://login.example'
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token of the issuer. */
function tokenOf(claims: object): string {
  const now = Math.floor(Date.now() / 1000)
  const payload = { iss: ISSUER, iat: now, exp: now + 600, jti: crypto.randomUUID(), ...claims }
  const signed = `${encoded({ alg: 'ES256', kid: 'k1', typ: 'JWT' })}.${encoded(payload)}`
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

const PAY = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'pay', arguments: {}, ...envelope() },
})

/** A call of which the gateway has the headers and the first bytes. */
function begin(url: string, secret: string) {
  const sent = request(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'content-length': PAY.length,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'pay',
    },
  })
  sent.write(PAY.slice(0, 10))
  return sent
}

describe.skipIf(!isRun)('credentials at the gateway on HTTP', () => {
  let remit: RemitServer
  let server: Awaited<ReturnType<typeof startCounting>>
  let gateway: Awaited<ReturnType<typeof startGateway>>
  const resource = () => `${gateway.url}/mcp/remote`

  beforeAll(async () => {
    remit = await startRemit()
    server = await startCounting()
    gateway = await startGateway(remit, {
      oauth: { authorization_servers: [ISSUER] },
      upstreams: { remote: { url: server.url }, other: { url: server.url } },
    })
    const owners = [{ type: 'user' as const, id: 'ada' }]
    await remit.client.registerAgent({ body: { agent_id: 'coder', owners } })
    const { id } = await remit.client.trustIssuer({
      body: {
        issuer: ISSUER,
        audiences: [resource(), `${gateway.url}/mcp/other`],
        jwks: {
          type: 'inline',
          keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig' }],
        },
        allowed_algs: ['ES256'],
        conditions: [{ claim: 'client_id', equals: 'desk' }],
        agent: { type: 'claim', claim: 'agent' },
        scopes: ['authorize', 'guard', 'ledger:append'],
      },
    })
    await remit.client.registerAgent({
      body: { agent_id: 'reader', owners, federation: { issuers: [id], subjects: [] } },
    })
  })
  afterAll(async () => {
    await gateway?.stop()
    await server?.stop()
    await remit.stop()
  })
  beforeEach(() => (server.calls.length = 0))

  const issue = async (scopes: ('authorize' | 'guard' | 'ledger:append')[]) => {
    const { credential, secret } = await remit.client.issueCredential({
      params: { agentID: 'coder' },
      body: { scopes },
    })
    return { id: credential.id, secret: secret ?? '' }
  }
  const SCOPES = ['authorize', 'guard', 'ledger:append'] as const
  const token = (claims: object = {}) =>
    tokenOf({
      aud: resource(),
      sub: 'ada@example.com',
      client_id: 'desk',
      agent: 'reader',
      ...claims,
    })
  const call = async (secret: string, options = {}) => {
    const { client } = await connect(resource(), secret, options)
    const result = await client.callTool({ name: 'pay', arguments: {} })
    await client.close()
    return result
  }
  const lastDecision = async () =>
    (await remit.client.listEntries({ query: { kind: 'authorization.decided', limit: 1 } })).data[0]

  it.each([{}, MODERN])(
    'lets an agent call with its credential, as that agent',
    async (options) => {
      const { id, secret } = await issue([...SCOPES])
      const result = await call(secret, options)

      expect(result.isError).toBeFalsy()
      expect(await lastDecision()).toMatchObject({
        agent_id: 'coder',
        decision: 'allow',
        actor: { type: 'credential', id },
      })
    },
  )

  it('lists no tool that the permissions of the agent deny, on HTTP and on stdio', async () => {
    await remit.client.grantPermission({
      params: { id: 'no-refund' },
      body: { agent_id: 'coder', effect: 'deny', resources: ['tool:refund'] },
    })
    const { secret } = await issue([...SCOPES])
    const onHttp = await connect(resource(), secret)
    const onStdio = await governed(
      { url: remit.url, org: { ...remit.org, key: secret } },
      [ownProgram('counting-server')],
      { flags: ['--name', 'on-stdio'] },
    )
    for (const { client } of [onHttp, onStdio]) {
      const names = (await client.listTools()).tools.map(({ name }) => name)

      expect(names).toContain('pay')
      expect(names).not.toContain('refund')
      await client.close()
    }
  })

  it('reads the permissions of its own agent with a credential, and of no other', async () => {
    const { secret } = await issue(['authorize'])
    const own = createClient({ baseUrl: remit.url, key: secret })

    expect(await own.getEffectivePermissions({ query: {} })).toMatchObject({ agent_id: 'coder' })
    await expect(
      own.getEffectivePermissions({ query: { agent_id: 'reader' } }),
    ).rejects.toMatchObject({ code: 'agent_mismatch' })
  })

  it('refuses calls with a credential once it is revoked', async () => {
    const { id, secret } = await issue([...SCOPES])
    const { client } = await connect(resource(), secret)
    await client.callTool({ name: 'pay', arguments: {} })
    await remit.client.revokeCredential({ params: { credID: id } })
    server.calls.length = 0

    await expect(client.callTool({ name: 'pay', arguments: {} })).rejects.toThrow(/refused/)
    expect(server.calls).toEqual([])
    await client.close()
  })

  it('accepts a good credential that it has not seen while others guess', async () => {
    const guessed = await startGateway(remit, { upstreams: { remote: { url: server.url } } })
    const url = `${guessed.url}/mcp/remote`
    const statuses: number[] = []
    for (let n = 0; n < 25; n++) {
      const authorization = `Bearer rmc_${String(n).padStart(65, '0')}`
      statuses.push((await fetch(url, { method: 'POST', headers: { authorization } })).status)
    }
    const { secret } = await issue([...SCOPES])
    const { client } = await connect(url, secret)
    const result = await client.callTool({ name: 'pay', arguments: {} })
    await client.close()
    await guessed.stop()

    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429])
    expect(result.isError).toBeFalsy()
  })

  it('asks with the credential of the request, not with one that the agent sent after it', async () => {
    const [first, second] = [await issue([...SCOPES]), await issue([...SCOPES])]
    await call(first.secret, MODERN)
    const sent = begin(resource(), first.secret)
    // The gateway knows the caller, and waits for the rest of the body.
    await call(second.secret, MODERN)
    await remit.client.revokeCredential({ params: { credID: first.id } })
    server.calls.length = 0
    sent.end(PAY.slice(10))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]

    expect(await textIn(response)).toContain('Remit refused the request')
    expect(server.calls).toEqual([])
    await remit.client.revokeCredential({ params: { credID: second.id } })
  })

  it.each([
    ['guard', ['authorize', 'ledger:append']],
    ['authorize', ['guard', 'ledger:append']],
  ] as const)('refuses a credential without the scope %s, and names it', async (scope, scopes) => {
    const { id, secret } = await issue([...scopes])
    const response = await fetch(resource(), {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
    })

    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toContain(
      `error="insufficient_scope", scope="${scope}"`,
    )
    expect(await response.text()).toContain(`The credential lacks the scope ${scope}.`)
    await remit.client.revokeCredential({ params: { credID: id } })
    expect(server.calls).toEqual([])
  })

  describe('leaves room for others where one agent takes all', () => {
    const few = (limits: object) =>
      startGateway(remit, { agent: 'tester', limits, upstreams: { remote: { url: server.url } } })

    it('sessions', async () => {
      const small = await few({ sessions: 3 })
      const url = `${small.url}/mcp/remote`
      const { secret } = await issue([...SCOPES])
      for (let n = 0; n < 3; n++) await connect(url, secret)
      const { client } = await connect(url, remit.org.key)

      expect((await client.callTool({ name: 'pay', arguments: {} })).isError).toBeFalsy()
      await expect(connect(url, secret)).rejects.toThrow(/Too many sessions/)
      await small.stop()
    })

    it('requests', async () => {
      const small = await few({ streams: 4 })
      const url = `${small.url}/mcp/remote`
      const { secret } = await issue([...SCOPES])
      const open = [0, 1, 2].map(() => begin(url, secret))
      const further = async () => {
        const one = begin(url, secret)
        one.end(PAY.slice(10))
        const [response] = (await once(one, 'response')) as [IncomingMessage]
        response.resume()
        return response.statusCode
      }
      await expect.poll(further, { timeout: 60_000 }).toBe(503)
      const { client } = await connect(url, remit.org.key, MODERN)

      expect((await client.callTool({ name: 'pay', arguments: {} })).isError).toBeFalsy()
      await client.close()
      for (const one of open) one.on('error', () => undefined).destroy()
      await small.stop()
    })
  })

  it('refuses an ingest key, which acts for no agent, where the configuration names none', async () => {
    await expect(call(remit.org.key)).rejects.toThrow(/acts for no agent/)
  })

  it('tells clients where to get a token (RFC 9728)', async () => {
    const { headers, status } = await fetch(resource(), { method: 'POST' })
    const [, metadata = ''] =
      /resource_metadata="(.*)"/.exec(headers.get('www-authenticate') ?? '') ?? []

    expect(status).toBe(401)
    expect(await (await fetch(metadata)).json()).toEqual({
      resource: resource(),
      authorization_servers: [ISSUER],
      bearer_methods_supported: ['header'],
    })
  })

  it('accepts a token for this resource, as the agent and for the person', async () => {
    const ours = token()
    await call(ours, MODERN)
    // It is exchanged once, and used until it ends.
    await call(ours)

    expect(server.calls).toEqual(['pay', 'pay'])
    expect(await lastDecision()).toMatchObject({
      agent_id: 'reader',
      data: { context: { acting_for: 'ada@example.com' } },
    })
    for (const { authorization } of server.headers) expect(authorization).toBeUndefined()
  })

  it.each([
    ['of another server here', () => token({ aud: `${gateway.url}/mcp/other` })],
    ['for another resource', () => token({ aud: 'https://elsewhere.example' })],
    ['without a resource', () => token({ aud: undefined })],
    ['of another client', () => token({ client_id: 'other' })],
    ['of an issuer that Remit does not trust', () => token({ iss: 'https://evil.example' })],
    ['that is over', () => token({ exp: 1_700_000_000 })],
    ['with a wrong signature', () => `${token().split('.', 2).join('.')}.${'A'.repeat(86)}`],
  ])('refuses a token %s', async (_, make) => {
    const { status, headers } = await fetch(resource(), {
      method: 'POST',
      headers: { authorization: `Bearer ${make()}` },
    })

    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect(server.calls).toEqual([])
  })

  it('keeps the session of an agent from another agent', async () => {
    const { secret } = await issue([...SCOPES])
    const { client, transport } = await connect(resource(), secret)
    const { status } = await fetch(resource(), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token()}`,
        'mcp-session-id': transport.sessionId ?? '',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    })

    expect(status).toBe(404)
    await client.close()
  })
})
