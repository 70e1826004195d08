import { createHmac, createPublicKey } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AUDIENCE, createFederation, ISSUER, issuerInput } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'
import { createKey, part, tokenOf } from '../support/tokens.ts'

const HEADER = { alg: 'ES256', kid: 'k1', typ: 'JWT' }
const other = createKey('k1')
const rsa = createKey('r1', 'RS256')
let f: Federation

type Change = Readonly<Record<string, unknown>>

/** A token with a changed header and changed claims, properly signed. */
const signed = (header: Change, claims: Change = {}): string =>
  tokenOf(JSON.stringify(merged(header)), JSON.stringify(f.claims(claims)), f.key)

const merged = (change: Change) =>
  Object.fromEntries(
    Object.entries({ ...HEADER, ...change }).filter(([, value]) => value !== undefined),
  )

/** A token with a payload of exactly this text. */
const raw = (payload: string | Uint8Array, header = JSON.stringify(HEADER)): string =>
  tokenOf(header, payload, f.key)

const payload = (change: Change = {}) => JSON.stringify(f.claims(change))
const now = () => Math.floor(f.clock.now() / 1000)
const unsigned = (token: string) => token.slice(0, token.lastIndexOf('.'))

/** Changes the last character of a base64url text in a bit that the decoder drops. */
const respelt = (text: string): string => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(text.at(-1) ?? '')
  return text.slice(0, -1) + alphabet[last ^ 1]
}

/** Node's decoder takes + for -, as in the other alphabet. */
const respeltPlus = (token: string) =>
  `${unsigned(token)}.+${token.slice(token.lastIndexOf('.') + 2)}`

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

const hmacWithPublicKey = () => {
  const header = part(JSON.stringify({ ...HEADER, alg: 'HS256' }))
  const text = `${header}.${part(payload())}`
  const pem = createPublicKey(f.key.privateKey).export({ type: 'spki', format: 'pem' })
  return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`
}

/** Each of them refused, and why. */
const FORGED: readonly (readonly [name: string, token: () => string, reason: string])[] = [
  ['alg none without a signature', () => `${unsigned(signed({ alg: 'none' }))}.`, 'malformed'],
  ['alg none with a signature', () => signed({ alg: 'none' }), 'alg'],
  ['alg None', () => signed({ alg: 'None' }), 'alg'],
  ['no alg', () => signed({ alg: undefined }), 'alg'],
  ['alg as a list', () => signed({ alg: ['ES256'] }), 'alg'],
  ['HS256 with the public key', hmacWithPublicKey, 'alg'],
  ['an alg that the record does not name', () => signed({ alg: 'ES384' }), 'alg'],
  ['alg in lower case', () => signed({ alg: 'es256' }), 'alg'],
  ['jku', () => signed({ jku: 'https://evil.example/jwks' }), 'header'],
  ['x5u', () => signed({ x5u: 'https://evil.example/cert' }), 'header'],
  ['jwk', () => signed({ jwk: other.jwk }), 'header'],
  ['x5c', () => signed({ x5c: ['MIIB'] }), 'header'],
  ['crit', () => signed({ crit: ['exp'] }), 'header'],
  ['b64', () => signed({ b64: false, crit: ['b64'] }), 'header'],
  ['crit of an unknown extension', () => signed({ crit: ['policy'], policy: 'x' }), 'header'],
  ['b64 without crit', () => signed({ b64: true }), 'header'],
  ['zip', () => signed({ zip: 'DEF' }), 'header'],
  ['no kid', () => signed({ kid: undefined }), 'header'],
  ['an empty kid', () => signed({ kid: '' }), 'header'],
  ['a kid that is a number', () => signed({ kid: 1 }), 'header'],
  ['a kid of 257 characters', () => signed({ kid: 'k'.repeat(257) }), 'header'],
  ['typ of a security event', () => signed({ typ: 'secevent+jwt' }), 'typ'],
  ['typ of a logout', () => signed({ typ: 'logout+jwt' }), 'typ'],
  ['typ of a DPoP proof', () => signed({ typ: 'dpop+jwt' }), 'typ'],
  ['typ that is a number', () => signed({ typ: 1 }), 'typ'],
  ['no iss', () => signed({}, { iss: undefined }), 'iss'],
  ['an issuer with a slash more', () => signed({}, { iss: `${ISSUER}/` }), 'iss'],
  ['an issuer in upper case', () => signed({}, { iss: ISSUER.toUpperCase() }), 'iss'],
  ['an issuer that looks alike', () => signed({}, { iss: 'https://іssuer.example' }), 'iss'],
  ['an issuer as a list', () => signed({}, { iss: [ISSUER] }), 'iss'],
  ['a path on the same host', () => signed({}, { iss: `${ISSUER}/other` }), 'iss'],
  ['an issuer that is switched off', () => signed({}, { iss: 'https://off.example' }), 'iss'],
  ['an issuer whose trust has ended', () => signed({}, { iss: 'https://ended.example' }), 'iss'],
  ['no aud', () => signed({}, { aud: undefined }), 'aud'],
  ['an empty aud', () => signed({}, { aud: [] }), 'aud'],
  ['a foreign aud', () => signed({}, { aud: 'https://other.example' }), 'aud'],
  ['aud with a foreign one', () => signed({}, { aud: [AUDIENCE, 'https://other.example'] }), 'aud'],
  ['aud with a number', () => signed({}, { aud: [AUDIENCE, 1] }), 'aud'],
  ['aud as an object', () => signed({}, { aud: { [AUDIENCE]: true } }), 'aud'],
  ['aud with a slash more', () => signed({}, { aud: `${AUDIENCE}/` }), 'aud'],
  ['aud that begins alike', () => signed({}, { aud: AUDIENCE.slice(0, -1) }), 'aud'],
  ['no exp', () => signed({}, { exp: undefined }), 'exp'],
  ['exp as text', () => signed({}, { exp: String(now() + 300) }), 'exp'],
  ['expired', () => signed({}, { exp: now() - 1 }), 'exp'],
  ['29 seconds left', () => signed({}, { exp: now() + 29 }), 'exp'],
  ['exp below zero', () => signed({}, { exp: -1 }), 'exp'],
  ['exp 9e15', () => signed({}, { exp: 9e15 }), 'life'],
  ['a life of 30 days', () => signed({}, { exp: now() + 2_592_000 }), 'life'],
  ['exp before iat', () => signed({}, { iat: now() + 30.5, exp: now() + 30 }), 'iat'],
  ['exp at iat', () => signed({}, { iat: now() + 30, exp: now() + 30 }), 'life'],
  ['no iat', () => signed({}, { iat: undefined }), 'iat'],
  ['iat as text', () => signed({}, { iat: String(now()) }), 'iat'],
  ['iat in the future', () => signed({}, { iat: now() + 31 }), 'iat'],
  ['nbf in the future', () => signed({}, { nbf: now() + 31 }), 'nbf'],
  ['nbf as text', () => signed({}, { nbf: '0' }), 'nbf'],
  ['no sub', () => signed({}, { sub: undefined }), 'sub'],
  ['an empty sub', () => signed({}, { sub: '' }), 'sub'],
  ['sub as an object', () => signed({}, { sub: { id: 1 } }), 'sub'],
  ['sub with a line break', () => signed({}, { sub: 'a\nb' }), 'sub'],
  ['sub with a mark of direction', () => signed({}, { sub: 'a\u202eb' }), 'sub'],
  ['sub of 1025 bytes', () => signed({}, { sub: `${'ß'.repeat(512)}s` }), 'sub'],
  ['no jti', () => signed({}, { jti: undefined }), 'jti'],
  ['an empty jti', () => signed({}, { jti: '' }), 'jti'],
  ['jti as a number', () => signed({}, { jti: 7 }), 'jti'],
  ['jti of 1025 bytes', () => signed({}, { jti: 'j'.repeat(1025) }), 'jti'],
  ['a security event', () => signed({}, { events: {} }), 'events'],
  ['a bound token', () => signed({}, { cnf: { jkt: 'x' } }), 'cnf'],
  ['a kid that nobody has', () => signed({ kid: 'k2' }), 'kid_unknown'],
  ['the key of another alg', () => signed({ alg: 'RS256' }), 'kid_unknown'],
  ['an RSA key for ES256', () => signed({ kid: 'r1' }), 'kid_unknown'],
  ['a key of the same name', () => tokenOf(JSON.stringify(HEADER), payload(), other), 'signature'],
  ['a changed payload', () => swapped(), 'signature'],
  ['half a signature', () => `${unsigned(signed({}))}.${part(Buffer.alloc(32, 7))}`, 'signature'],
  ['a signature of zeros', () => `${unsigned(signed({}))}.${part(Buffer.alloc(64))}`, 'signature'],
  ['no condition claim', () => signed({}, { env: undefined }), 'condition'],
  ['another value', () => signed({}, { env: 'Prod' }), 'condition'],
  ['a list with the value', () => signed({}, { env: ['prod'] }), 'condition'],
  ['no agent claim', () => signed({}, { agent: undefined }), 'mapping'],
  ['an agent that is not there', () => signed({}, { agent: 'nobody' }), 'mapping'],
  ['an agent as a list', () => signed({}, { agent: ['agent-a'] }), 'mapping'],
  ['a removed agent', () => signed({}, { agent: 'gone' }), 'mapping'],
  ['a suspended agent', () => signed({}, { agent: 'asleep' }), 'agent_inactive'],
  ['an agent that names another issuer', () => signed({}, { agent: 'elsewhere' }), 'consent'],
  ['two agents at once', () => signed({}, { iss: 'https://rules.example', b: 1 }), 'ambiguous'],
  ['65 as text', () => signed({}, { iss: 'https://rules.example', b: '1' }), 'mapping'],
  ['a token without dots', () => 'abc', 'malformed'],
  ['two parts', () => unsigned(signed({})), 'malformed'],
  ['five parts', () => `${signed({})}.a.b`, 'malformed'],
  ['16 KiB and more', () => signed({}, { more: 'x'.repeat(16_384) }), 'malformed'],
  ['blanks', () => `${signed({})}\n`, 'malformed'],
  ['padding', () => `${signed({})}==`, 'malformed'],
  ['another alphabet', () => respeltPlus(signed({})), 'malformed'],
  ['another spelling of the signature', () => respelt(signed({})), 'malformed'],
  ['a payload that is a list', () => raw('[]'), 'malformed'],
  ['a payload that is null', () => raw('null'), 'malformed'],
  ['a payload that is not JSON', () => raw('{'), 'malformed'],
  ['a byte order mark', () => raw(`\ufeff${payload()}`), 'malformed'],
  ['a payload that is not UTF-8', () => raw(Buffer.from([0x7b, 0xff, 0x7d])), 'malformed'],
  ['a name twice', () => raw(payload().replace('{', '{"aud":"x",')), 'malformed'],
  [
    'a name twice, once escaped',
    () => raw(payload().replace('{', '{"\\u0061ud":"x",')),
    'malformed',
  ],
  [
    'a header name twice',
    () => raw(payload(), '{"alg":"none","alg":"ES256","kid":"k1"}'),
    'malformed',
  ],
  ['nine levels', () => raw(payload({ deep: nested(9) })), 'malformed'],
  ['100,000 levels', () => raw(`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`), 'malformed'],
  [
    'claims by __proto__',
    () => raw(payload({ env: undefined }).replace('{', '{"__proto__":{"env":"prod"},')),
    'condition',
  ],
  ['a claim that every object has', () => signed({}, { iss: 'https://proto.example' }), 'mapping'],
]

const swapped = () => {
  const [header, , signature] = signed({}).split('.')
  return `${header}.${part(payload({ agent: 'admin' }))}.${signature}`
}

beforeAll(async () => {
  f = await createFederation()
  await f.agent('agent-a')
  await f.agent('gone')
  await f.remit.call('DELETE', '/v1/identity/agents/gone', { key: f.org.key })
  await f.agent('asleep')
  await f.remit.call('PATCH', '/v1/identity/agents/asleep', {
    key: f.org.key,
    body: { status: 'suspended', suspended_reason: 'test' },
  })
  await f.agent('elsewhere', { federation: { issuers: ['idp_other'], subjects: [] } })
  const keys = [f.key.jwk, rsa.jwk]
  const record = (issuer: string, more: Change) =>
    f.ok<{ id: string }>('/v1/identity/idp', issuerInput(f.key, { issuer, ...more }))
  await record('https://off.example', { enabled: false })
  const ended = new Date(f.clock.now()).toISOString()
  await record('https://ended.example', { expires_at: ended })
  await record('https://proto.example', { agent: { type: 'claim', claim: 'toString' } })
  await record('https://rules.example', {
    jwks: { type: 'inline', keys },
    agent: {
      type: 'rules',
      rules: [
        { match: [{ claim: 'b', equals: 1 }], agent_id: 'agent-a' },
        { match: [{ claim: 'b', in: [1, 2] }], agent_id: 'asleep' },
      ],
    },
  })
})
afterAll(() => f.remit.close())

describe('a forged token', () => {
  const bodies = new Set<string>()

  it.each(FORGED)('is refused: %s', async (_name, token, reason) => {
    // Beyond 60 a minute they are only counted.
    f.clock.advance(61_000)
    const response = await f.exchange(token())
    const { request_id: id, ...body } = (await response.json()) as Record<string, unknown>
    expect(response.headers.get('x-request-id')).toBe(id)
    const [entry] = await f.entries('token.refused')
    expect(entry?.reason).toBe(reason)
    expect(response.status).toBe(400)
    const headers = [...response.headers].filter(([name]) => name !== 'x-request-id')
    bodies.add(JSON.stringify([body, headers]))
    expect(await f.entries('token.exchanged')).toHaveLength(0)
  })

  it('is answered as every other one', () => {
    expect([...bodies]).toHaveLength(1)
    expect([...bodies][0]).toContain('"error":"invalid_grant"')
  })

  it('is not the good one beside it', async () => {
    expect((await f.exchange(signed({}))).status).toBe(200)
    expect((await f.exchange(signed({ typ: undefined, x5t: 'abc' }))).status).toBe(200)
    expect((await f.exchange(signed({ typ: 'application/AT+JWT' }))).status).toBe(200)
    expect((await f.exchange(signed({}, { aud: [AUDIENCE] }))).status).toBe(200)
  })
})
