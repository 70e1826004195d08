import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOutbound } from '@remit/core/net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasPublicCases, PUBLIC_CASES } from './support/public-cases.ts'
import type { PublicCase } from './support/public-cases.ts'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

type Members = Readonly<Record<string, unknown>>

/** A token of an issuer that an organization trusts. */
interface TokenCase {
  readonly kind: 'federation'
  readonly issuer: Members & { readonly issuer?: string; readonly jwks?: string }
  readonly token: { readonly header: Members; readonly claims: Members; readonly drop?: string[] }
  readonly jwks_server?: {
    readonly content_type?: string
    readonly '406_unless_accept_matches'?: string
    readonly keys?: readonly string[]
    readonly 'discovery issuer'?: string
  }
}

const casesOf = (all: readonly PublicCase[]) =>
  all.flatMap(({ id, request, expect: expected }) =>
    'kind' in request && 'issuer' in request
      ? [{ id, request: request as unknown as TokenCase, expected }]
      : [],
  )
const CASES = casesOf(PUBLIC_CASES)
type Case = (typeof CASES)[number]

/** The text of the documentation that answers some cases. */
const DOCUMENTED = 'the token must have `kid` and `iat`'
const REPOSITORY = { repository_owner_id: '65', repository_id: '74' }
const equal = (claims: Members) =>
  Object.entries(claims).map(([claim, equals]) => ({ claim, equals }))

describe.skipIf(!hasPublicCases || !hasModules())('tokens of public bug reports', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig' }
  let remit: RemitServer
  let base: string
  let current: Case
  const issuer = createServer((request, response) => {
    const { jwks_server: served = {}, issuer: settings } = current.request
    const { content_type: type = 'application/json', keys = ['k1'] } = served
    const needed = served['406_unless_accept_matches']
    if (request.url?.endsWith('/.well-known/openid-configuration') === true) {
      const named = served['discovery issuer'] ?? settings.issuer ?? '<base>'
      const found = { issuer: named.replace('<base>', base), jwks_uri: `${base}/jwks` }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(found))
      return
    }
    const isAccepted = needed === undefined || request.headers.accept?.includes(needed) === true
    response.writeHead(isAccepted ? 200 : 406, { 'content-type': type })
    response.end(JSON.stringify({ keys: keys.map(() => jwk) }))
  })
  beforeAll(async () => {
    remit = await startRemit({ outbound: createOutbound({ allowLoopback: true }) })
    issuer.listen(0, '127.0.0.1')
    await once(issuer, 'listening')
    base = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    issuer.closeAllConnections()
    issuer.close()
    await remit.stop()
  })

  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const tokenOf = (header: Members, claims: Members) => {
    const text = `${part(header)}.${part(claims)}`
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }
  /** A time such as `now-300` or `iat+3900`. */
  const timeOf = (text: unknown, from: number) => {
    const [, seconds] = /^(?:now|iat)([+-]\d+)$/.exec(String(text)) ?? []
    return seconds === undefined ? text : from + Number(seconds)
  }

  it.each(CASES.map((one) => [one.id, one] as const))('%s', async (_, one) => {
    current = one
    const { issuer: given, token } = one.request
    const { key } = await remit.remit.organization()
    const call = async (method: string, path: string, body?: object) => {
      const response = await remit.remit.call(method, path, { key, ...(body && { body }) })
      const text = await response.text()
      return { status: response.status, body: JSON.parse(text) as Members }
    }
    const audience = (await call('GET', '/.well-known/oauth-authorization-server')).body
    const aud = String(audience['token_endpoint'])
    const own = given['preset'] === 'github' ? REPOSITORY : { sub: 'svc-a' }
    const { jwks, ...settings } = given
    const text = JSON.stringify({
      issuer: base,
      conditions: equal(own),
      agent: { type: 'claim', claim: 'agent' },
      scopes: ['authorize'],
      ...(jwks !== undefined && { jwks: { type: 'inline', keys: [jwk] } }),
      ...settings,
    })
    const filled = JSON.parse(text.replaceAll('<base>', base).replaceAll('<agent>', 'agent-a')) as {
      issuer: string
    }
    const registered = await call('POST', '/v1/identity/idp', filled)
    expect(registered.status, JSON.stringify(registered.body)).toBe(201)
    const federation = { issuers: [registered.body['id']], subjects: [] }
    const owners = [{ type: 'user', id: 'ada' }]
    await call('POST', '/v1/identity/agents', { agent_id: 'agent-a', owners, federation })

    const now = Math.floor(Date.now() / 1000)
    const iat = Number(timeOf(token.claims['iat'] ?? now, now))
    const exp = iat + 300
    const all = { iss: filled.issuer, aud, sub: 'svc-a', jti: randomUUID(), iat, exp, ...own }
    const changed = Object.entries({ ...all, agent: 'agent-a', ...token.claims })
    const claims = changed
      .filter(([name]) => token.drop?.includes(name) !== true)
      .map(([name, value]) => [name, timeOf(value, name === 'exp' ? iat : now)])
    const header = { alg: 'RS256', kid: 'k1', typ: 'JWT', ...token.header }
    const sent = tokenOf(
      Object.fromEntries(Object.entries(header).filter(([, value]) => value !== null)),
      JSON.parse(JSON.stringify(Object.fromEntries(claims)).replaceAll('<aud>', aud)) as Members,
    )
    const exchanged = await call('POST', '/v1/identity/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: sent,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    })

    const idps = (await call('GET', '/v1/identity/idp')).body
    const [idp] = idps['data'] as { keys: { error: unknown } }[]
    const refusals = (await call('GET', '/v1/ledger?kind=token.refused')).body
    const [refusal] = refusals['data'] as { data: { reason: string } }[]
    const found: Members = {
      register: registered.status,
      status: exchanged.status,
      error: exchanged.body['error'],
      ledger_reason: refusal?.data.reason,
      'keys.error': idp?.keys.error,
    }
    const [either] = (one.expected['either'] as Members[] | undefined) ?? [one.expected]
    const docs = readFileSync(new URL('../../docs/federation.md', import.meta.url), 'utf8')
    const isDocumented = /-(kid|iat)-missing$/.test(one.id) && docs.includes(DOCUMENTED)
    const wanted = isDocumented ? { status: 400 } : either
    expect(found, JSON.stringify([exchanged.body, refusal, idp])).toMatchObject(wanted as Members)
  })
})
