import { sql } from 'kysely'
import { createClock, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, OWNERS, register } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const SCOPES = ['approvals:read', 'authorize', 'guard', 'ledger:append', 'scorers']

describe.each(someDialects())('/v1/identity/agents on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  const params = (agentID: string) => ({ params: { agentID } })
  const newest = async () => {
    const { size } = await api.remit.ledger.head(api.org.id)
    return api.remit.ledger.entry(api.org.id, size - 1)
  }

  describe('POST', () => {
    it('201 with the agent, its place and the receipt of its entry', async () => {
      const response = await api.call('registerAgent', {
        body: {
          agent_id: 'payer',
          owners: OWNERS,
          labels: { team: 'billing' },
          environment: 'prod',
        },
      })

      expect(response.status).toBe(201)
      expect(response.headers.get('location')).toBe('/v1/identity/agents/payer')
      expect(response.headers.get('etag')).toBe('"1"')
      const { ledger, ...agent } = (await response.json()) as { ledger: { seq: number } }
      expect(agent).toEqual({
        agent_id: 'payer',
        name: null,
        description: null,
        owners: OWNERS,
        environment: 'prod',
        labels: { team: 'billing' },
        allowed_scopes: SCOPES,
        max_credential_ttl_seconds: null,
        federation: { issuers: [], subjects: [] },
        spiffe_id: null,
        agent_card_url: null,
        status: 'active',
        suspended_at: null,
        suspended_reason: null,
        created_at: NOW,
        created_by: `key_${api.org.key.slice(4, 20)}`,
        updated_at: NOW,
        version: 1,
      })
      expect(await api.remit.ledger.entry(api.org.id, ledger.seq)).toMatchObject({
        kind: 'agent.registered',
        agent_id: 'payer',
        data: { agent },
      })
    })

    it('201 with an id of its own where none is given', async () => {
      const { agent_id } = await api.ok('registerAgent', { body: { owners: OWNERS } })

      expect(agent_id).toMatch(/^agt_[0-9a-z]{26}$/)
      expect((await api.ok('getAgent', params(agent_id))).owners).toEqual(OWNERS)
    })

    describe('400', () => {
      const good = { agent_id: 'x', owners: OWNERS }
      it.each([
        ['no owner', { agent_id: 'x' }, 'owners'],
        ['an empty list of owners', { ...good, owners: [] }, 'owners'],
        [
          'an owner who is neither',
          { ...good, owners: [{ type: 'bot', id: 'a' }] },
          'owners.0.type',
        ],
        ['an id with an outer blank', { ...good, agent_id: 'a ' }, 'agent_id'],
        ['an id of dots', { ...good, agent_id: '..' }, 'agent_id'],
        ['an id with a pattern', { ...good, agent_id: 'a*' }, 'agent_id'],
        ['a scope that nobody has', { ...good, allowed_scopes: ['admin'] }, 'allowed_scopes.0'],
        [
          'a scope that no agent has',
          { ...good, allowed_scopes: ['approvals:decide'] },
          'allowed_scopes.0',
        ],
        ['a scope twice', { ...good, allowed_scopes: ['guard', 'guard'] }, 'allowed_scopes'],
        [
          '33 labels',
          {
            ...good,
            labels: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`l${i}`, ''])),
          },
          'labels',
        ],
        ['a label that is no text', { ...good, labels: { a: 1 } }, 'labels.a'],
        ['a SPIFFE id without a path', { ...good, spiffe_id: 'spiffe://example.org' }, 'spiffe_id'],
        [
          'a card that is not https',
          { ...good, agent_card_url: 'http://a.example/' },
          'agent_card_url',
        ],
        [
          'a life of no time',
          { ...good, max_credential_ttl_seconds: 0 },
          'max_credential_ttl_seconds',
        ],
        ['a field that nobody knows', { ...good, owner: 'a' }, 'owner'],
        ['a status', { ...good, status: 'active' }, 'status'],
        [
          'a subject twice',
          {
            ...good,
            federation: {
              subjects: [
                { idp_id: 'i', subject: 's' },
                { idp_id: 'i', subject: 's' },
              ],
            },
          },
          'federation.subjects.1',
        ],
        ['a reserved id', { agent_id: 'remit.rules', owners: OWNERS }, 'agent_id'],
      ])('%s', async (_, body, path) => {
        const problem = await api.refusal('registerAgent', { body })

        expect(problem.status).toBe(400)
        expect(problem.errors?.map((error) => error.path)).toContain(path)
      })
    })

    it('409 for an id that is registered, and for one whose agent was removed', async () => {
      await register(api, 'unique')
      const again = () =>
        api.refusal('registerAgent', { body: { agent_id: 'unique', owners: OWNERS } })
      expect((await again()).code).toBe('agent_exists')
      await api.ok('removeAgent', params('unique'))

      expect((await again()).code).toBe('agent_exists')
    })

    it('409 for a subject that is another agent', async () => {
      const federation = { subjects: [{ idp_id: 'idp_1', subject: 'repo:a' }] }
      await register(api, 'first', { federation })

      const problem = await api.refusal('registerAgent', {
        body: { agent_id: 'second', owners: OWNERS, federation },
      })

      expect(problem).toMatchObject({
        code: 'subject_taken',
        errors: [{ path: 'federation.subjects.0', message: 'already belongs to the agent first' }],
      })
      await api.ok('removeAgent', params('first'))
      expect(await register(api, 'second', { federation })).toMatchObject({
        federation: { issuers: [], ...federation },
      })
    })
  })

  describe('PATCH', () => {
    it('200 with the agent changed; omitted members remain', async () => {
      await register(api, 'changing', { name: 'Before', labels: { a: '1' } })
      clock.advance(1000)

      const response = await api.call('changeAgent', {
        ...params('changing'),
        body: { name: null, environment: 'test' },
      })

      expect(response.headers.get('etag')).toBe('"2"')
      expect(await response.json()).toMatchObject({
        name: null,
        environment: 'test',
        labels: { a: '1' },
        owners: OWNERS,
        updated_at: new Date(clock.now()).toISOString(),
        version: 2,
      })
      expect(await newest()).toMatchObject({
        kind: 'agent.updated',
        data: { agent: { name: null, environment: 'test', labels: { a: '1' } } },
      })
    })

    it('suspends and resumes, with an entry each', async () => {
      await register(api, 'stopping')

      const body = { status: 'suspended', suspended_reason: 'leaked a key' } as const
      const stopped = await api.ok('changeAgent', { ...params('stopping'), body })
      expect(stopped).toMatchObject({ status: 'suspended', suspended_reason: 'leaked a key' })
      expect(await newest()).toMatchObject({
        kind: 'agent.suspended',
        agent_id: 'stopping',
        data: { agent_id: 'stopping', reason: 'leaked a key', agent: { status: 'suspended' } },
      })
      const again = await api.ok('changeAgent', {
        ...params('stopping'),
        body: { status: 'active' },
      })
      expect(again).toMatchObject({ status: 'active', suspended_at: null, suspended_reason: null })
      expect((await newest()).kind).toBe('agent.resumed')
    })

    it.each([
      [undefined, null],
      [null, null],
      ['', null],
      [' \t\u3164\u200B', null],
      ['  leaked a key\n', 'leaked a key'],
      ['leaked\r\na key', 'leaked a key'],
      ['cafe\u0301', 'caf\u00E9'],
    ])('a suspension does not fail for the reason %j', async (given, reason) => {
      await api.call('registerAgent', { body: { agent_id: 'stopped-at-once', owners: OWNERS } })
      const body = { status: 'suspended', suspended_reason: given }

      const stopped = await api.ok('changeAgent', { ...params('stopped-at-once'), body })
      expect(stopped).toMatchObject({ status: 'suspended', suspended_reason: reason })
      expect(await newest()).toMatchObject({ kind: 'agent.suspended', data: { reason } })
    })

    it.each([
      ['nothing', {}, ''],
      ['no owner', { owners: [] }, 'owners'],
      [
        'a reason that is too long',
        { status: 'suspended', suspended_reason: 'x'.repeat(501) },
        'suspended_reason',
      ],
      ['a reason without a suspension', { suspended_reason: 'x' }, 'suspended_reason'],
      ['another id', { agent_id: 'other' }, 'agent_id'],
      ['an owner of null', { owners: null }, 'owners'],
    ])('400 for %s', async (_, body, path) => {
      await api.call('registerAgent', { body: { agent_id: 'patched', owners: OWNERS } })
      const problem = await api.refusal('changeAgent', { ...params('patched'), body })

      expect(problem.errors?.map((error) => error.path)).toContain(path)
    })

    it('412 after a concurrent change, and for a removal too', async () => {
      await register(api, 'contested')
      const asked = { ...params('contested'), headers: { 'if-match': '"1"' } }
      await api.ok('changeAgent', { ...asked, body: { name: 'A' } })

      expect((await api.refusal('changeAgent', { ...asked, body: { name: 'B' } })).code).toBe(
        'version_mismatch',
      )
      expect((await api.refusal('removeAgent', asked)).code).toBe('version_mismatch')
      expect((await api.ok('getAgent', params('contested'))).name).toBe('A')
      const bad = { ...params('contested'), headers: { 'if-match': 'W/"2"' } }
      expect((await api.refusal('removeAgent', bad)).status).toBe(400)
      await api.ok('removeAgent', { ...params('contested'), headers: { 'if-match': '"2"' } })
    })
  })

  describe('DELETE', () => {
    it('204, and the agent is removed permanently; only its id remains', async () => {
      await register(api, 'leaving', { name: 'Personal', description: 'Facts' })

      await api.ok('removeAgent', params('leaving'))

      expect(await newest()).toMatchObject({
        kind: 'agent.removed',
        data: { agent: { name: 'Personal' } },
      })
      for (const name of ['getAgent', 'removeAgent', 'listCredentials'] as const)
        expect((await api.refusal(name, params('leaving'))).code).toBe('agent_not_found')
      const change = { ...params('leaving'), body: { name: 'Back' } }
      expect((await api.refusal('changeAgent', change)).code).toBe('agent_not_found')
      const { rows } = await sql<{ agent_id: string }>`select * from agent`.execute(api.remit.db)
      const left = rows.filter(({ agent_id }) => agent_id === 'leaving')
      expect(left).toHaveLength(1)
      expect(JSON.stringify(left)).not.toMatch(/Personal|Facts|ada/)
    })
  })

  it('GET lists agents in pages, without those that were removed', async () => {
    const other = await api.remit.organization()
    const own = api.as(other)
    for (const id of ['c', 'a', 'd', 'b', 'e']) await register(own, id)
    await own.ok('removeAgent', params('d'))

    const first = await own.ok('listAgents', { query: { limit: 3 } })
    const second = await own.ok('listAgents', {
      query: { limit: 3, cursor: first.next_cursor ?? '' },
    })

    expect(first.data.map(({ agent_id }) => agent_id)).toEqual(['a', 'b', 'c'])
    expect(second.data.map(({ agent_id }) => agent_id)).toEqual(['e'])
    expect(second.next_cursor).toBeNull()
  })

  it('403 for roles that do not reach it', async () => {
    await register(api, 'guarded')
    for (const role of ['ingest', 'approver', 'read'] as const) {
      const key = await api.remit.key(api.org.id, role)
      const codes = [
        await api.refusal('registerAgent', { key, body: { owners: OWNERS } }),
        await api.refusal('changeAgent', { ...params('guarded'), key, body: { name: 'x' } }),
        await api.refusal('removeAgent', { ...params('guarded'), key }),
      ].map(({ code }) => code)
      expect(codes).toEqual(Array(3).fill('role_required'))
      expect((await api.call('listAgents', { key })).status).toBe(role === 'ingest' ? 403 : 200)
    }
  })
})
