import { createOutbound } from '@remit/core/net'
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AUDIENCE, createFederation, ISSUER, issuerInput } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'
import { createKey } from '../support/tokens.ts'

const GITHUB = 'https://token.actions.githubusercontent.com'
let f: Federation
beforeAll(async () => {
  // No name resolves, so nothing is connected to.
  const resolve = () => Promise.reject(new Error('no names here'))
  f = await createFederation({ outbound: createOutbound({ allowLoopback: false, resolve }) })
})
afterAll(() => f.remit.close())

const register = (change: Readonly<Record<string, unknown>>) => {
  const all = {
    ...issuerInput(f.key),
    audiences: [`https://gov.example/${Math.random()}`],
    ...change,
  }
  const input = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return f.post('/v1/identity/idp', input)
}

const pin = (claim: string, value: unknown = '65') => ({ claim, equals: value })
const CONDITIONS = [pin('env')]
const subjects = { type: 'subjects' }

describe('a trusted issuer', () => {
  it('is shown with its defaults and keys, listed, recorded, and removed', async () => {
    const defaults = { audiences: undefined, scopes: undefined }
    const response = await register({ issuer: 'https://a.example', ...defaults })
    expect(response.status).toBe(201)
    const record = (await response.json()) as { id: string; ledger: { seq: number } }
    expect(record).toMatchObject({
      issuer: 'https://a.example',
      audiences: [AUDIENCE],
      allowed_algs: ['RS256', 'ES256'],
      max_token_age_seconds: 3600,
      replay: 'single_use',
      // As of a new agent, which can wait for its approvals.
      scopes: ['approvals:read', 'authorize', 'guard', 'ledger:append', 'scorers'],
      require_jti: true,
      keys: { count: 1, error: null },
    })
    const [entry] = await f.entries('issuer.trusted')
    const { ledger: _, ...shown } = record
    expect(entry?.data).toMatchObject({ issuer: shown })
    const listed = await f.remit.call('GET', '/v1/identity/idp?limit=1000', { key: f.org.key })
    expect(((await listed.json()) as { data: unknown[] }).data).toContainEqual(shown)
    const remove = () => f.remit.call('DELETE', `/v1/identity/idp/${record.id}`, { key: f.org.key })
    expect((await remove()).status).toBe(204)
    expect((await remove()).status).toBe(404)
  })

  it('is trusted once for an audience', async () => {
    const audiences = ['https://gov.example/x', 'https://gov.example/y']
    expect((await register({ audiences })).status).toBe(201)
    const again = await register({ audiences: ['https://gov.example/y'] })
    expect(again.status).toBe(409)
    expect(await again.json()).toMatchObject({ code: 'issuer_exists' })
  })

  it('is registered even if its keys cannot be fetched, with the reason', async () => {
    const response = await register({ issuer: 'https://away.example', jwks: { type: 'discovery' } })
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({ keys: { count: 0, error: 'name_not_found' } })
  })

  it('is only checked with ?validate=true, with the errors of storing and no fetch', async () => {
    const check = async (query: string, change: object) => {
      const input = { ...issuerInput(f.key), issuer: GITHUB, ...change }
      const response = await f.post(`/v1/identity/idp${query}`, input)
      return { status: response.status, ...((await response.json()) as { errors?: unknown }) }
    }
    const before = await f.entries('issuer.trusted')
    const wrong = { preset: 'github', conditions: CONDITIONS }
    const stored = await check('', wrong)
    const checked = await check('?validate=true', wrong)

    expect(stored.status).toBe(400)
    expect(checked).toMatchObject({ status: 200, valid: false })
    expect(checked.errors).toEqual(stored.errors)
    expect(await check('?validate=true', { clock_skew_seconds: 999 })).toMatchObject({
      valid: false,
      errors: [{ path: 'clock_skew_seconds' }],
    })
    expect(await check('?validate=true', { issuer: 'https://away.example' })).toMatchObject({
      status: 200,
      valid: true,
      errors: [],
    })
    expect(await f.entries('issuer.trusted')).toEqual(before)
  })

  it.each([
    ['no condition', { conditions: [] }, 'conditions'],
    ['no condition but an audience', { conditions: [pin('aud')] }, 'conditions.0.claim'],
    [
      'a prefix that others begin with',
      { conditions: [{ claim: 'sub', prefix: 'repo:acme' }] },
      'conditions.0.prefix',
    ],
    ['two tests in one', { conditions: [{ claim: 'a', equals: 1, in: [1] }] }, 'conditions.0.in'],
    ['an empty list', { conditions: [{ claim: 'a', in: [] }] }, 'conditions.0.in'],
    ['alg none', { allowed_algs: ['none'] }, 'allowed_algs.0'],
    ['HS256', { allowed_algs: ['HS256'] }, 'allowed_algs.0'],
    ['an audience with *', { audiences: ['*'] }, 'audiences.0'],
    ['no audience', { audiences: [] }, 'audiences'],
    ['an audience twice', { audiences: ['a', 'a'] }, 'audiences'],
    ['a scope that tokens are not for', { scopes: ['spend:read'] }, 'scopes.0'],
    ['credentials of two hours', { credential_ttl_seconds: 7200 }, 'credential_ttl_seconds'],
    ['tokens of more than two days', { max_token_age_seconds: 172_801 }, 'max_token_age_seconds'],
    ['three minutes of skew', { clock_skew_seconds: 180 }, 'clock_skew_seconds'],
    ['an unknown field', { algs: [] }, 'algs'],
    ['a blank before the issuer', { issuer: ' https://a.example' }, 'issuer'],
    ['a blank after the issuer', { issuer: 'https://a.example ' }, 'issuer'],
    ['a no-break space after the issuer', { issuer: 'https://a.example\u00a0' }, 'issuer'],
    [
      'a blank before the address of keys',
      { jwks: { type: 'url', url: ' https://a.example/keys' } },
      'jwks.url',
    ],
    ['a line break in the issuer', { issuer: 'https://a\n.example' }, 'issuer'],
    [
      'GitHub without its preset',
      { issuer: GITHUB, conditions: [pin('repository')] },
      'conditions',
    ],
    [
      'GitHub with an owner only',
      { preset: 'github', conditions: [pin('repository_owner_id')] },
      'conditions',
    ],
    [
      'GitHub with an owner by prefix',
      {
        issuer: GITHUB,
        conditions: [{ claim: 'repository_owner_id', prefix: '6:' }, pin('repository_id')],
      },
      'conditions',
    ],
    [
      'GitHub with subjects only',
      { issuer: GITHUB, conditions: [], agent: subjects },
      'conditions',
    ],
    [
      'GitLab without a project',
      { preset: 'gitlab', conditions: [pin('namespace_id')] },
      'conditions',
    ],
    ['Google with an e-mail', { preset: 'google', conditions: [pin('email')] }, 'conditions'],
    ['Entra without a tenant', { preset: 'entra', conditions: [pin('appid')] }, 'conditions'],
    [
      'Kubernetes without a subject',
      { preset: 'kubernetes', conditions: CONDITIONS },
      'conditions',
    ],
  ])('is refused with %s', async (_name, change, path) => {
    const response = await register(change)
    const body = (await response.json()) as { errors?: { path: string }[] }
    expect(response.status, JSON.stringify(body)).toBe(400)
    expect(body.errors?.map((error) => error.path)).toContain(path)
  })

  it.each([
    [
      'github',
      { conditions: [pin('repository_owner_id'), { claim: 'repository_id', in: ['74', '75'] }] },
      {},
    ],
    [
      'gitlab',
      { conditions: [pin('namespace_id'), pin('project_id')] },
      { max_token_age_seconds: 86_400 },
    ],
    [
      'google',
      { conditions: [], agent: subjects },
      { require_jti: false, max_token_age_seconds: 3600 },
    ],
    ['entra', { conditions: [pin('tid')] }, { require_jti: false, max_token_age_seconds: 101_100 }],
    [
      'entra',
      { conditions: [pin('tid')], max_token_age_seconds: 5400, require_jti: true },
      { require_jti: true, max_token_age_seconds: 5400 },
    ],
    [
      'kubernetes',
      { conditions: [pin('sub', 'system:serviceaccount:a:b')] },
      { replay: 'until_exp', max_token_age_seconds: 86_400 },
    ],
    ['spiffe', { conditions: [], agent: subjects }, { allowed_typ: ['JWT', 'JOSE', null] }],
  ])('has the defaults of the preset %s', async (preset, change, brought) => {
    const response = await register({ preset, issuer: `https://${preset}.example`, ...change })
    expect(await response.json()).toMatchObject({ preset, ...brought })
    expect(response.status).toBe(201)
  })

  it.each([
    'http://issuer.example',
    'https://127.0.0.1',
    'https://2130706433',
    'https://0x7f.1',
    'https://[::1]',
    'https://localhost',
    'https://metadata.google.internal',
    'https://issuer',
    'https://issuer.example:8443',
    'https://a:b@issuer.example',
    'https://issuer.example/?x=1',
    'https://issuer.example/#x',
    'issuer',
  ])('is never fetched from %s', async (issuer) => {
    const discovered = await register({ issuer, jwks: { type: 'discovery' } })
    expect(discovered.status).toBe(400)
    expect(await discovered.json()).toMatchObject({ errors: [{ path: 'issuer' }] })
    // Without a fetch, the issuer is only a text.
    expect((await register({ issuer })).status).toBe(201)
    if (issuer.includes('?')) return
    const given = await register({ issuer: ISSUER, jwks: { type: 'url', url: issuer } })
    expect(await given.json()).toMatchObject({ errors: [{ path: 'jwks.url' }] })
  })

  it('has no inline keys with which others could sign', async () => {
    const { jwk } = createKey('k', 'RS256')
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
    const bad = [
      { ...jwk, e: 'AQ' },
      { ...jwk, kid: undefined },
      { ...jwk, use: 'enc' },
      { ...jwk, key_ops: ['sign'] },
      { ...jwk, d: 'AAAA' },
      { kty: 'oct', k: 'AAAA', kid: 'k' },
      { ...small.export({ format: 'jwk' }), kid: 'k' },
    ]
    for (const key of bad) {
      const response = await register({ jwks: { type: 'inline', keys: [key] } })
      expect(await response.json(), JSON.stringify(key)).toMatchObject({
        errors: [{ path: 'jwks.keys' }],
      })
    }
    const { jwk: other } = createKey('k', 'RS256')
    expect((await register({ jwks: { type: 'inline', keys: [jwk, other] } })).status).toBe(400)
    const twice = await register({ jwks: { type: 'inline', keys: [jwk, { ...jwk }] } })
    expect(await twice.json()).toMatchObject({ keys: { count: 1 } })
    expect((await register({ jwks: { type: 'inline', keys: [jwk] } })).status).toBe(201)
  })

  it("is an administrator's to choose", async () => {
    for (const role of ['ingest', 'read', 'approver'] as const) {
      const key = await f.remit.key(f.org.id, role)
      expect((await f.post('/v1/identity/idp', issuerInput(f.key), key)).status).toBe(403)
    }
  })
})
