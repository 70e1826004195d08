import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AUDIENCE, createFederation, issuerInput } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'
import { tokenOf } from '../support/tokens.ts'

const HOUR = 3600
let f: Federation

type Members = Readonly<Record<string, unknown>>

const signed = (header: Members, claims: Members = {}): string => {
  const all = { alg: 'ES256', kid: 'k1', typ: 'JWT', ...header }
  return tokenOf(JSON.stringify(all), JSON.stringify(f.claims(claims)), f.key)
}
const now = () => Math.floor(f.clock.now() / 1000)

beforeAll(async () => {
  f = await createFederation()
  const presets = {
    entra: [{ claim: 'tid', equals: 't-1' }],
    kubernetes: [{ claim: 'sub', equals: 'workload-1' }],
    gitlab: [
      { claim: 'namespace_id', equals: '65' },
      { claim: 'project_id', equals: '74' },
    ],
  }
  const idps = [f.idp]
  for (const [preset, conditions] of Object.entries(presets)) {
    const issuer = `https://${preset}.example`
    const input = issuerInput(f.key, { issuer, preset, conditions })
    idps.push((await f.ok<{ id: string }>('/v1/identity/idp', input)).id)
  }
  await f.agent('agent-a', { federation: { issuers: idps, subjects: [] } })
})
afterAll(() => f.remit.close())

describe('a token as issuers make it is accepted', () => {
  it.each<[Members]>([
    [{ cat: 'cl_1' }],
    [{ tnk: 'core/1', ver: '1.0', tty: 'core-token' }],
    [{ cty: 'json' }],
    [{ nonce: 'n', x5t: 'abc', 'x5t#S256': 'def' }],
    [{ iss: 'https://elsewhere.example', aud: ['x'], kids: [1, { a: null }] }],
  ])('with header members that Remit does not know: %j', async (header) => {
    expect((await f.exchange(signed(header))).status).toBe(200)
  })

  const ENTRA = { iss: 'https://entra.example', tid: 't-1', jti: undefined }
  const KUBERNETES = { iss: 'https://kubernetes.example', jti: undefined, aud: [AUDIENCE] }
  const GITLAB = { iss: 'https://gitlab.example', namespace_id: '65', project_id: '74' }
  it.each<[string, Members, number, number]>([
    ['Entra, 65 minutes', ENTRA, 3900, 200],
    ['Entra, 90 minutes', ENTRA, 5399, 200],
    ['Entra, a managed identity', ENTRA, 86_700, 200],
    ['Entra, continuous evaluation', ENTRA, 28 * HOUR + 300, 200],
    ['Entra, longer than any', ENTRA, 28 * HOUR + 301, 400],
    ['EKS, a day', KUBERNETES, 24 * HOUR, 200],
    ['Kubernetes, longer', KUBERNETES, 24 * HOUR + 1, 400],
    ['a GitLab job of three hours', GITLAB, 3 * HOUR, 200],
    ['a GitLab job of more than a day', GITLAB, 25 * HOUR, 400],
    ['no preset, more than an hour', {}, HOUR + 1, 400],
  ])('with the lifetime of its issuer: %s', async (_name, claims, seconds, status) => {
    f.clock.advance(61_000)
    const iat = now() - 300
    const token = signed({}, { ...claims, iat, nbf: iat, exp: iat + seconds })

    expect((await f.exchange(token)).status).toBe(status)
  })

  it.each([
    ['300 characters', `repository_owner:acme:job_workflow_ref:${'w'.repeat(261)}`],
    ['255 of four bytes', '𝒳'.repeat(255)],
    ['1024 bytes', 'é'.repeat(512)],
  ])('with a subject of %s, which its credential and the registry keep', async (_name, sub) => {
    const { credential_id: id } = await f.exchanged(signed({}, { sub }))

    const [entry] = await f.entries('token.exchanged')
    expect(entry?.data).toMatchObject({ credential_id: id, subject: sub })
    const subjects = [{ idp_id: f.idp, subject: sub }]
    await f.agent(`of-${sub.length}`, { federation: { issuers: [], subjects } })
  })
})

describe('the entry of a refusal names what was found and what is allowed', () => {
  it.each<[string, () => string, Members]>([
    [
      'life',
      () => signed({}, { exp: now() + 5399 }),
      { found: { seconds: 5399 }, allowed: { max_token_age_seconds: 3600 } },
    ],
    [
      'header',
      () => signed({ crit: ['policy'], policy: 'x' }),
      { found: { crit: ['policy'] }, allowed: { crit: null } },
    ],
    ['header', () => signed({ kid: undefined }), { found: { kid: null } }],
    [
      'alg',
      () => signed({ alg: 'PS256' }),
      { found: { alg: 'PS256' }, allowed: { allowed_algs: ['RS256', 'ES256'] } },
    ],
    [
      'typ',
      () => signed({ typ: 'logout+jwt' }),
      { found: { typ: 'logout+jwt' }, allowed: { allowed_typ: ['JWT', 'at+jwt', null] } },
    ],
    [
      'iss',
      () => signed({}, { iss: 'https://nobody.example' }),
      { found: { iss: 'https://nobody.example' }, allowed: { iss: 'a trusted issuer' } },
    ],
    [
      'aud',
      () => signed({}, { aud: [AUDIENCE, 'account'] }),
      {
        found: { aud: [AUDIENCE, 'account'] },
        allowed: { audiences: [AUDIENCE], allow_foreign_audiences: false },
      },
    ],
    ['iat', () => signed({}, { iat: undefined }), { found: { iat: null } }],
    ['exp', () => signed({}, { exp: 'soon' }), { found: { exp: 'soon' } }],
    ['nbf', () => signed({}, { nbf: 'now' }), { found: { nbf: 'now' } }],
    ['sub', () => signed({}, { sub: { id: 1 } }), { found: { sub: { id: 1 } } }],
    ['jti', () => signed({}, { jti: 7 }), { found: { jti: 'number' } }],
    ['cnf', () => signed({}, { cnf: { jkt: 'x' } }), { allowed: { cnf: null } }],
    [
      'kid_unknown',
      () => signed({ kid: 'k2' }),
      { found: { kid: 'k2', alg: 'ES256' }, allowed: { kid: ['k1'] } },
    ],
    [
      'condition',
      () => signed({}, { env: 'dev' }),
      { found: { env: 'dev' }, allowed: { env: { equals: 'prod' } } },
    ],
    [
      'mapping',
      () => signed({}, { agent: 'nobody' }),
      { found: { agent_id: 'nobody' }, allowed: { agent_id: 'a registered agent' } },
    ],
    ['mapping', () => signed({}, { agent: ['a'] }), { found: { agent: ['a'] } }],
  ])('%s', async (reason, token, difference) => {
    f.clock.advance(61_000)
    expect((await f.exchange(token())).status).toBe(400)

    const [entry] = await f.entries('token.refused')

    expect(entry?.data).toMatchObject({ reason, ...difference })
  })

  it.each([
    ['agent_id', 'agent_mismatch', 400],
    ['audience', 'target', 400],
    ['resource', 'target', 400],
  ])('of a request too, with any text in %s', async (name, reason, status) => {
    for (const text of ['other', 'other\u202e', '𝒳'.repeat(1000)]) {
      f.clock.advance(61_000)
      const response = await f.exchange(signed({}), { [name]: text })
      expect(response.status, await response.text()).toBe(status)
      const [entry] = await f.entries('token.refused')
      expect(entry?.data).toMatchObject({ reason, found: { [name]: expect.any(String) } })
    }
  })

  it('in a bounded size, whatever the token says', async () => {
    f.clock.advance(61_000)
    const aud = Array.from({ length: 400 }, (_, i) => `${i}${'x'.repeat(20)}`)
    expect((await f.exchange(signed({}, { aud }))).status).toBe(400)
    const [lists] = await f.entries('token.refused')
    expect(JSON.stringify(lists?.data).length).toBeLessThan(1000)

    const iss = `https://${'𝒳'.repeat(1000)}`
    expect((await f.exchange(signed({}, { iss }))).status).toBe(400)
    const [long] = await f.entries('token.refused')
    expect(JSON.stringify(long?.data).length).toBeLessThan(1000)
  })
})
