import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerOf, createApi, refusalOf } from './support/api.ts'
import type { Api } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())('POST /v1/authorize on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock: createClock(NOW) })
  })
  afterAll(() => api.remit.close())

  describe('200', () => {
    it('allows an action that no rule denies, with the receipt of its entry', async () => {
      const body = {
        agent_id: 'reader',
        action: 'docs.read',
        context: { page: 3 },
        resource: 'doc:7',
      }

      const answer = await api.ok('authorize', { body })

      expect(answer).toMatchObject({
        decision: 'allow',
        reason: 'default_allow',
        agent_id: 'reader',
        action: 'docs.read',
        matched: [],
        decided_at: NOW,
      })
      expect(answer).not.toHaveProperty('spend')
      expect(answer).not.toHaveProperty('request_id')
      const entry = await api.ok('getEntry', { params: { seq: answer.ledger.seq } })
      expect(entry).toMatchObject({
        kind: 'authorization.decided',
        hash: answer.ledger.hash,
        agent_id: 'reader',
        action: 'docs.read',
        resource: 'doc:7',
        decision: 'allow',
        reason: 'default_allow',
        recorded_at: NOW,
        actor: { type: 'key' },
        data: { decision_id: answer.decision_id, context: { page: 3 }, matched: [] },
      })
    })

    it('answers a denial with 200 too, and records it', async () => {
      await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 5 } })

      const answer = await api.ok('authorize', {
        body: { agent_id: 'payer', action: 'payments.transfer', context: { amount_usd: 7.5 } },
      })

      expect(answer).toMatchObject({
        decision: 'deny',
        reason: 'spend_limit_daily',
        limit_usd: 5,
        matched: [{ kind: 'spend_limit', id: 'payer' }],
        spend: {
          amount_usd: 7.5,
          daily: {
            limit_usd: 5,
            spent_usd: 0,
            remaining_usd: 5,
            resets_at: '2026-11-21T00:00:00.000Z',
          },
          monthly: null,
        },
      })
      const entry = await api.ok('getEntry', { params: { seq: answer.ledger.seq } })
      expect(entry).toMatchObject({ decision: 'deny', reason: 'spend_limit_daily' })
    })

    it('takes a resource as text, as parts and as none', async () => {
      const parts = { type: 'account', id: '42', properties: { currency: 'USD' } }
      const given = [undefined, '', 'account:42', parts]

      const recorded = await Promise.all(
        given.map(async (resource) => {
          const body = { agent_id: 'reader', action: 'accounts.read', resource }
          const { ledger } = await api.ok('authorize', { body })
          return api.ok('getEntry', { params: { seq: ledger.seq } })
        }),
      )

      expect(recorded.map((entry) => entry.resource)).toEqual([
        null,
        null,
        'account:42',
        'account:42',
      ])
      expect(recorded[3]?.data).toMatchObject({ resource_properties: { currency: 'USD' } })
      expect(recorded[2]?.data).not.toHaveProperty('resource_properties')
    })

    it('returns the signed note of its commit with Prefer: receipt', async () => {
      const body = { agent_id: 'reader', action: 'docs.read' }

      const plain = await api.ok('authorize', { body })
      const signed = await api.ok('authorize', {
        body,
        headers: { prefer: 'respond-async, receipt' },
      })

      expect(plain.ledger.checkpoint).toEqual({
        size: plain.ledger.seq + 1,
        root: expect.any(String),
      })
      expect(signed.ledger.checkpoint).toBe(await api.ok('getCheckpoint'))
    })

    it('decides at the time of the last entry when the clock runs backwards', async () => {
      const clock = createClock('2026-11-20T09:00:00.000Z')
      const own = await createApi({ dialect, clock })
      await own.ok('authorize', { body: { agent_id: 'reader', action: 'docs.read' } })
      clock.advance(-60_000)

      const { decided_at } = await own.ok('authorize', {
        body: { agent_id: 'reader', action: 'docs.read' },
      })

      expect(decided_at).toBe('2026-11-20T09:00:00.000Z')
      await own.remit.close()
    })

    it('denies a suspended agent on the next request, and no longer once it is resumed', async () => {
      const body = { agent_id: 'rogue', action: 'docs.read' }
      const { agentSwitch } = api.remit.ports
      await agentSwitch?.suspend(api.org.id, 'rogue', 'it sends too much mail')

      expect(await api.ok('authorize', { body })).toMatchObject({
        decision: 'deny',
        reason: 'agent_suspended',
        message: expect.stringContaining('it sends too much mail'),
        matched: [{ kind: 'agent', id: 'rogue' }],
      })
      await agentSwitch?.resume(api.org.id, 'rogue', 'ada@example.org')
      expect(await api.ok('authorize', { body })).toMatchObject({ decision: 'allow' })
      const { data } = await api.ok('listEntries', { query: { kind: 'agent.resumed' } })
      expect(data).toMatchObject([{ agent_id: 'rogue', data: { person: 'ada@example.org' } }])
    })

    it('leaves the agents of another organization alone', async () => {
      const other = api.as(await api.remit.organization())
      await api.remit.ports.agentSwitch?.suspend(api.org.id, 'shared-name', 'only here')
      await api.ok('setSpendLimit', { params: { id: 'capped-here' }, body: { daily_usd: 0 } })

      for (const agent_id of ['shared-name', 'capped-here']) {
        const body = { agent_id, action: 'docs.read', context: { amount_usd: 1 } }
        expect(await other.ok('authorize', { body })).toMatchObject({ decision: 'allow' })
        expect(await api.ok('authorize', { body })).toMatchObject({ decision: 'deny' })
      }
    })
  })

  describe('400', () => {
    it.each([
      ['no action', { agent_id: 'a' }, 'action'],
      ['no agent', { action: 'a.b' }, 'agent_id'],
      [
        'a dry run, which is another endpoint',
        { agent_id: 'a', action: 'a.b', dry_run: true },
        'dry_run',
      ],
      ['a context that is no object', { agent_id: 'a', action: 'a.b', context: [] }, 'context'],
      ['half a resource', { agent_id: 'a', action: 'a.b', resource: { type: 't' } }, 'resource.id'],
      ['a pattern for an action', { agent_id: 'a', action: 'a.*' }, 'action'],
    ])('%s', async (_, body, path) => {
      const problem = await api.refusal('authorize', { body })

      expect(problem.code).toBe('invalid_request')
      expect(problem.errors?.map((error) => error.path)).toContain(path)
    })

    it('leaves no entry', async () => {
      const before = await api.ok('listEntries', { query: { limit: 1 } })

      await api.refusal('authorize', { body: { agent_id: 'a' } })

      expect((await api.ok('listEntries', { query: { limit: 1 } })).head).toEqual(before.head)
    })
  })

  it('401 without a key', async () => {
    const response = await api.call('authorize', { key: 'none', body: {} })

    expect(response.status).toBe(401)
    expect((await refusalOf(response)).code).toBe('unauthorized')
  })

  describe('403', () => {
    it('names the plan that is required', async () => {
      const free = api.as(await api.remit.organization('free'))

      const problem = await free.refusal('authorize', { body: { agent_id: 'a', action: 'a.b' } })

      expect(problem).toMatchObject({ code: 'plan_required', required_plan: 'team' })
    })

    it('refuses a key that may only read', async () => {
      const key = await api.remit.key(api.org.id, 'read')

      const response = await api.call('authorize', { key, body: { agent_id: 'a', action: 'a.b' } })

      expect((await refusalOf(response)).code).toBe('role_required')
      const ingest = await api.remit.key(api.org.id, 'ingest')
      const allowed = await api.call('authorize', {
        key: ingest,
        body: { agent_id: 'a', action: 'a.b' },
      })
      expect(await answerOf('authorize', allowed)).toMatchObject({ decision: 'allow' })
    })
  })
})
