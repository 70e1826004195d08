import { DEFAULT_CREDENTIAL_TTL_SECONDS } from '@remit/contract'
import { createClock, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  findCredentialRecord,
  findCredentialRecords,
} from '../src/credentials/credential-record.ts'
import { createApi, issue, register } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const DAY = 86_400

describe.each(someDialects())('credentials on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  const params = (agentID: string) => ({ params: { agentID } })
  const inMs = (seconds: number) => new Date(clock.now() + seconds * 1000).toISOString()
  const statusWith = async (key: string, agent_id: string) =>
    (await api.call('authorize', { key, body: { agent_id, action: 'a.b' } })).status
  /** Entries of the organization from a place on. */
  const entriesFrom = async (from: number) => {
    const { size } = await api.remit.ledger.head(api.org.id)
    return Promise.all(
      Array.from({ length: size - from }, (_, i) => api.remit.ledger.entry(api.org.id, from + i)),
    )
  }
  const head = async () => (await api.remit.ledger.head(api.org.id)).size

  describe('POST /v1/identity/agents/{agentID}/credentials', () => {
    it('201 with a secret that works, and an entry without it', async () => {
      await register(api, 'payer')
      const response = await api.call('issueCredential', {
        ...params('payer'),
        body: { name: 'ci', scopes: ['guard', 'authorize'], ttl_seconds: 3600 },
      })

      expect(response.status).toBe(201)
      expect(response.headers.get('cache-control')).toBe('no-store')
      const { credential, secret, ledger } = (await response.json()) as {
        credential: object
        secret: string
        ledger: { seq: number }
      }
      expect(secret).toMatch(/^rmc_[0-9A-Za-z]{65}$/)
      expect(JSON.stringify({ credential, ledger })).not.toMatch(/rm[ckf]_\w/)
      expect(credential).toEqual({
        id: `cred_${secret.slice(4, 20)}`,
        agent_id: 'payer',
        name: 'ci',
        display: `rmc_…${secret.slice(16, 20)}`,
        scopes: ['authorize', 'guard'],
        status: 'active',
        source: 'issued',
        idp_id: null,
        issued_by: `key_${api.org.key.slice(4, 20)}`,
        created_at: NOW,
        expires_at: inMs(3600),
        rotated_from: null,
        revoked_at: null,
        revoked_by: null,
        last_used_at: null,
      })
      const entry = await api.remit.ledger.entry(api.org.id, ledger.seq)
      expect(entry).toMatchObject({
        kind: 'credential.issued',
        agent_id: 'payer',
        data: { credential },
      })
      expect(JSON.stringify(entry)).not.toContain(secret.slice(20, 63))
      expect(await statusWith(secret, 'payer')).toBe(200)
    })

    it.each([
      ['90 days', {}, {}, DEFAULT_CREDENTIAL_TTL_SECONDS],
      ['what the agent allows', { max_credential_ttl_seconds: 600 }, {}, 600],
      [
        '90 days where the agent allows more',
        { max_credential_ttl_seconds: 100 * DAY },
        {},
        90 * DAY,
      ],
      ['a year where it is asked for', {}, { ttl_seconds: 365 * DAY }, 365 * DAY],
    ])('lives %s', async (_, agent, body, seconds) => {
      const { agent_id } = await api.ok('registerAgent', {
        body: { owners: [{ type: 'team', id: 'ops' }], ...agent },
      })

      const { credential } = await issue(api, agent_id, body)

      expect(credential.expires_at).toBe(inMs(seconds))
    })

    it.each([
      ['no scopes', {}, 'scopes'],
      ['an empty list of scopes', { scopes: [] }, 'scopes'],
      ['a scope that agents never have', { scopes: ['approvals:decide'] }, 'scopes.0'],
      ['a wildcard', { scopes: ['*'] }, 'scopes.0'],
      ['a scope that the agent may not have', { scopes: ['spend:read'] }, 'scopes'],
      ['a life of 59 seconds', { scopes: ['guard'], ttl_seconds: 59 }, 'ttl_seconds'],
      [
        'a life of more than a year',
        { scopes: ['guard'], ttl_seconds: 365 * DAY + 1 },
        'ttl_seconds',
      ],
      [
        'a life that the agent does not allow',
        { scopes: ['guard'], ttl_seconds: 601 },
        'ttl_seconds',
      ],
      ['an end of null', { scopes: ['guard'], ttl_seconds: null }, 'ttl_seconds'],
      ['a field that nobody knows', { scopes: ['guard'], expires: 1 }, 'expires'],
    ])('400 for %s', async (_, body, path) => {
      const limits = { max_credential_ttl_seconds: 600 }
      await api.call('registerAgent', {
        body: { agent_id: 'limited', owners: [{ type: 'team', id: 'ops' }], ...limits },
      })

      const problem = await api.refusal('issueCredential', { ...params('limited'), body })

      expect(problem.status).toBe(400)
      expect(problem.errors?.map((error) => error.path)).toContain(path)
    })

    it('404 for an agent that is not registered, or was removed', async () => {
      const body = { scopes: ['guard'] }
      const unknown = () => api.refusal('issueCredential', { ...params('nobody'), body })
      expect((await unknown()).code).toBe('agent_not_found')
      await register(api, 'gone')
      await api.ok('removeAgent', params('gone'))

      const problem = await api.refusal('issueCredential', { ...params('gone'), body })

      expect(problem.code).toBe('agent_not_found')
    })

    it('409 for an agent that is suspended, until it is resumed', async () => {
      await register(api, 'halted')
      const { credential } = await issue(api, 'halted')
      await api.ok('changeAgent', { ...params('halted'), body: { status: 'suspended' } })

      for (const body of [
        { scopes: ['authorize'] },
        { rotate: { credential_id: credential.id } },
      ]) {
        const { code } = await api.refusal('issueCredential', { ...params('halted'), body })
        expect(code).toBe('agent_suspended')
      }
      await api.ok('changeAgent', { ...params('halted'), body: { status: 'active' } })
      await issue(api, 'halted')
    })

    it('a repeat of its Idempotency-Key names the credential and not the secret', async () => {
      await register(api, 'repeated')
      const call = {
        ...params('repeated'),
        body: { scopes: ['guard'] },
        headers: { 'idempotency-key': 'once' },
      }
      const first = await api.ok('issueCredential', call)

      const again = await api.ok('issueCredential', call)

      expect(again).toEqual({ ...first, secret: null, secret_available: false })
      expect((await api.ok('listCredentials', params('repeated'))).data).toHaveLength(1)
    })
  })

  describe('limits', () => {
    it('409 for an agent with as many live credentials as the setting says; concurrent issues do not pass', async () => {
      const own = api.as(await api.remit.organization())
      await register(own, 'crowded')
      const body = { scopes: ['guard'], ttl_seconds: 60 }
      const ask = () => own.call('issueCredential', { ...params('crowded'), body })

      const statuses = (await Promise.all(Array.from({ length: 15 }, ask))).map(
        ({ status }) => status,
      )

      expect(statuses.filter((status) => status === 201)).toHaveLength(10)
      expect(statuses.filter((status) => status === 409)).toHaveLength(5)
      expect((await own.refusal('issueCredential', { ...params('crowded'), body })).code).toBe(
        'too_many_credentials',
      )
      clock.advance(60_000)
      expect((await ask()).status).toBe(201)
    })

    it('429 for more than 60 a minute in an organization', async () => {
      const own = api.as(await api.remit.organization())
      const agents = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
      for (const agent of agents) await register(own, agent)
      const ask = (agentID: string) =>
        own.call('issueCredential', { ...params(agentID), body: { scopes: ['guard'] } })
      const answers = await Promise.all(
        agents.flatMap((agent) => Array.from({ length: 10 }, () => ask(agent))),
      )

      const limited = answers.filter(({ status }) => status === 429)
      expect(limited).toHaveLength(10)
      expect(limited[0]?.headers.get('retry-after')).toBe('60')
      clock.advance(60_001)
      expect((await ask('g')).status).toBe(201)
    })
  })

  describe('rotation', () => {
    const rotate = (credential_id: string, overlap_seconds = 0, more: object = {}) => ({
      ...more,
      rotate: { credential_id, overlap_seconds },
    })

    it('both work until the overlap ends, then the new one alone; one entry names both', async () => {
      await register(api, 'rotating')
      const old = await issue(api, 'rotating', { name: 'ci' })
      const from = await head()

      const next = await issue(api, 'rotating', {
        scopes: undefined,
        ...rotate(old.credential.id, 60),
      })

      expect(next.credential).toMatchObject({
        rotated_from: old.credential.id,
        scopes: ['authorize'],
        name: 'ci',
      })
      expect(await entriesFrom(from)).toMatchObject([
        {
          kind: 'credential.rotated',
          data: {
            credential: { id: next.credential.id },
            rotated_from: { id: old.credential.id, expires_at: inMs(60) },
          },
        },
      ])
      const statuses = async () => [
        await statusWith(old.secret, 'rotating'),
        await statusWith(next.secret, 'rotating'),
      ]
      expect(await statuses()).toEqual([200, 200])
      clock.advance(59_999)
      expect(await statuses()).toEqual([200, 200])
      clock.advance(1)
      expect(await statuses()).toEqual([401, 200])
    })

    it('without an overlap the old one ends with the next call', async () => {
      await register(api, 'abrupt')
      const old = await issue(api, 'abrupt')
      expect(await statusWith(old.secret, 'abrupt')).toBe(200)

      await issue(api, 'abrupt', rotate(old.credential.id))

      expect(await statusWith(old.secret, 'abrupt')).toBe(401)
    })

    it('never lengthens the old one', async () => {
      await register(api, 'brief')
      const old = await issue(api, 'brief', { ttl_seconds: 60 })

      await issue(api, 'brief', rotate(old.credential.id, 7 * DAY))

      clock.advance(60_000)
      expect(await statusWith(old.secret, 'brief')).toBe(401)
    })

    it('is possible for an agent that is at its limit', async () => {
      await register(api, 'full')
      const all = []
      for (let i = 0; i < 10; i++) all.push(await issue(api, 'full'))
      clock.advance(61_000)

      const next = await issue(api, 'full', rotate(all[0]!.credential.id, 60))

      expect(next.credential.status).toBe('active')
    })

    it('400 for more than the old one could; 404 for another agent’s; 409 for one that has ended', async () => {
      clock.advance(61_000)
      await register(api, 'narrow')
      await register(api, 'other')
      const old = await issue(api, 'narrow')
      const theirs = await issue(api, 'other')
      const ask = (body: object) => api.refusal('issueCredential', { ...params('narrow'), body })

      const wider = await ask(rotate(old.credential.id, 0, { scopes: ['authorize', 'guard'] }))
      expect(wider.errors?.[0]).toMatchObject({ path: 'scopes' })
      expect((await ask(rotate(theirs.credential.id))).code).toBe('credential_not_found')
      expect((await ask(rotate('cred_unknown'))).code).toBe('credential_not_found')
      await api.ok('revokeCredential', { params: { credID: old.credential.id } })
      expect((await ask(rotate(old.credential.id))).code).toBe('credential_ended')
    })
  })

  describe('DELETE /v1/identity/credentials/{credID}', () => {
    it('200, and the next call with it is 401; twice is 404', async () => {
      await register(api, 'revoked')
      const { credential, secret } = await issue(api, 'revoked')
      expect(await statusWith(secret, 'revoked')).toBe(200)

      const call = { params: { credID: credential.id } }
      const { ledger, ...answer } = await api.ok('revokeCredential', call)

      expect(answer).toEqual({ id: credential.id, revoked_at: inMs(0) })
      expect(await api.remit.ledger.entry(api.org.id, ledger?.seq ?? 0)).toMatchObject({
        kind: 'credential.revoked',
        agent_id: 'revoked',
        data: { credential: { id: credential.id, status: 'revoked', scopes: ['authorize'] } },
      })
      expect(await statusWith(secret, 'revoked')).toBe(401)
      expect((await api.refusal('revokeCredential', call)).code).toBe('credential_not_found')
    })

    it('of an agent that is removed: all its credentials end, and the entry names them', async () => {
      await register(api, 'removed')
      const both = [await issue(api, 'removed'), await issue(api, 'removed')]
      const from = await head()

      await api.ok('removeAgent', params('removed'))

      const ids = both.map(({ credential }) => credential.id).toSorted()
      expect((await entriesFrom(from))[0]).toMatchObject({
        kind: 'agent.removed',
        data: { revoked_credentials: ids },
      })
      for (const { secret } of both) expect(await statusWith(secret, 'removed')).toBe(401)
    })
  })

  it('are found without a ledger head, so that they can read entries', async () => {
    const org = await api.remit.organization()
    await register(api.as(org), 'headless')
    const { credential } = await issue(api.as(org), 'headless')
    await api.remit.db.deleteFrom('ledger_head').where('org_id', '=', org.id).execute()

    const one = await findCredentialRecord(api.remit.db, credential.id)

    expect(one).toMatchObject({ id: credential.id, configVersion: null })
    expect(await findCredentialRecords(api.remit.db, org.id, [credential.id])).toEqual([one])
  })

  it('GET lists credentials, newest first, by current status', async () => {
    clock.advance(61_000)
    await register(api, 'listed')
    const made = []
    for (const ttl_seconds of [60, 600, 600]) {
      made.push((await issue(api, 'listed', { ttl_seconds })).credential.id)
      clock.advance(1000)
    }
    await api.ok('revokeCredential', { params: { credID: made[1]! } })
    clock.advance(60_000)

    const list = async (query: Record<string, string | number>) =>
      api.ok('listCredentials', { ...params('listed'), query })
    const ids = async (query: Record<string, string | number>) =>
      (await list(query)).data.map(({ id }) => id)

    expect(await ids({})).toEqual(made.toReversed())
    expect(await ids({ status: 'expired' })).toEqual([made[0]])
    expect(await ids({ status: 'revoked' })).toEqual([made[1]])
    expect(await ids({ status: 'active' })).toEqual([made[2]])
    const first = await list({ limit: 2 })
    expect(await ids({ limit: 2, cursor: first.next_cursor ?? '' })).toEqual([made[0]])
    const bad = await api.refusal('listCredentials', {
      ...params('listed'),
      query: { cursor: 'x' },
    })
    expect(bad.errors?.[0]?.path).toBe('cursor')
  })
})
