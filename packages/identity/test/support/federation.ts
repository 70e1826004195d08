import { randomUUID } from 'node:crypto'
import { TOKEN_EXCHANGE } from '@remit/contract'
import type { TokenAnswer } from '@remit/contract'
import { createClock, createTestRemit } from '@remit/testing'
import type { TestClock, TestOrganization, TestRemit, TestRemitOptions } from '@remit/testing'
import { expect } from 'vitest'
import identity from '../../src/index.ts'
import { createKey, tokenOf } from './tokens.ts'
import type { IssuerKey } from './tokens.ts'

export const BASE_URL = 'https://gov.example'
export const AUDIENCE = `${BASE_URL}/v1/identity/token`
export const ISSUER = 'https://issuer.example'
export const JWT = 'urn:ietf:params:oauth:token-type:jwt'

/** Remit with the identity module, and an organization that trusts an issuer whose keys we have. */
export interface Federation {
  readonly remit: TestRemit
  readonly clock: TestClock
  readonly org: TestOrganization
  readonly key: IssuerKey
  /** Id of the record of the issuer. */
  readonly idp: string
  post(path: string, body: unknown, key?: string): Promise<Response>
  /** The body of a success; anything else fails the test. */
  ok<T = Record<string, unknown>>(path: string, body: unknown, key?: string): Promise<T>
  agent(id: string, more?: Readonly<Record<string, unknown>>): Promise<void>
  /** Claims of a good token, changed; `undefined` leaves one out. */
  claims(change?: Readonly<Record<string, unknown>>): Record<string, unknown>
  token(change?: Readonly<Record<string, unknown>>): string
  exchange(token: string, more?: Readonly<Record<string, unknown>>): Promise<Response>
  exchanged(token: string, more?: Readonly<Record<string, unknown>>): Promise<TokenAnswer>
  /** The newest entries of a kind, newest first. */
  entries(kind: string): Promise<Entry[]>
}

export interface Entry {
  readonly seq: number
  readonly kind: string
  readonly reason: string | null
  readonly agent_id: string | null
  readonly actor: { readonly type: string; readonly id: string }
  readonly data: Record<string, unknown>
}

export const issuerInput = (key: IssuerKey, more: Readonly<Record<string, unknown>> = {}) => ({
  issuer: ISSUER,
  jwks: { type: 'inline', keys: [key.jwk] },
  conditions: [{ claim: 'env', equals: 'prod' }],
  agent: { type: 'claim', claim: 'agent' },
  scopes: ['authorize', 'guard', 'ledger:append'],
  ...more,
})

export async function createFederation(
  options: TestRemitOptions & { readonly issuer?: Readonly<Record<string, unknown>> } = {},
): Promise<Federation> {
  const clock = createClock()
  const { issuer, settings, ...rest } = options
  const remit = await createTestRemit({
    modules: [identity],
    clock,
    ...rest,
    settings: { baseUrl: BASE_URL, ...settings },
  })
  const key = createKey('k1')
  const draft = federationOf(remit, clock, await remit.organization(), key, '')
  const { id } = await draft.ok<{ id: string }>('/v1/identity/idp', issuerInput(key, issuer))
  return federationOf(remit, clock, draft.org, key, id)
}

/** The operations of an organization through one process. */
export function federationOf(
  remit: TestRemit,
  clock: TestClock,
  org: TestOrganization,
  key: IssuerKey,
  idp: string,
): Federation {
  const post: Federation['post'] = (path, body, as = org.key) =>
    remit.call('POST', path, { body, key: as })
  const ok = async <T>(path: string, body: unknown, as?: string): Promise<T> => {
    const response = await post(path, body, as)
    const text = await response.text()
    expect(response.ok, text).toBe(true)
    return JSON.parse(text) as T
  }
  const claims: Federation['claims'] = (change = {}) => {
    const now = Math.floor(clock.now() / 1000)
    const all = {
      iss: ISSUER,
      aud: AUDIENCE,
      sub: 'workload-1',
      jti: randomUUID(),
      iat: now,
      exp: now + 300,
      env: 'prod',
      agent: 'agent-a',
      ...change,
    }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  }
  const exchange: Federation['exchange'] = (token, more = {}) =>
    post('/v1/identity/token', {
      grant_type: TOKEN_EXCHANGE,
      subject_token: token,
      subject_token_type: JWT,
      ...more,
    })
  return {
    remit,
    clock,
    org,
    key,
    idp,
    post,
    ok,
    agent: async (id, more) => {
      const owners = [{ type: 'user', id: 'ada' }]
      const federation = { issuers: [idp], subjects: [] }
      await ok('/v1/identity/agents', { agent_id: id, owners, federation, ...more })
    },
    claims,
    token: (change) =>
      tokenOf(
        JSON.stringify({ alg: 'ES256', kid: 'k1', typ: 'JWT' }),
        JSON.stringify(claims(change)),
        key,
      ),
    exchange,
    exchanged: async (token, more) => {
      const response = await exchange(token, more)
      const text = await response.text()
      expect(response.status, text).toBe(200)
      return JSON.parse(text) as TokenAnswer
    },
    entries: async (kind) => {
      const rows = await remit.db
        .selectFrom('ledger_entry')
        .select('seq')
        .where('org_id', '=', org.id)
        .where('kind', '=', kind)
        .orderBy('seq', 'desc')
        .execute()
      return Promise.all(
        rows.map(
          ({ seq }) => remit.ledger.entry(org.id, seq) as Promise<unknown> as Promise<Entry>,
        ),
      )
    },
  }
}
