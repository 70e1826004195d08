import { someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, issue, register } from './support.ts'

// The community edition has no credentials.
const REFUSED = new Set(['identity.impersonation.refused'])

describe.skipIf(!hasModules()).each(someDialects())(
  'a credential acts only as its own agent, on %s',
  (dialect) => {
    let api: Api
    let key: string
    let id: string
    beforeAll(async () => {
      api = await createEnterprise({ dialect })
      await register(api, 'own')
      await register(api, 'other')
      ;({ id, secret: key } = await issue(api, 'own'))
      await api.ok('setApprovalRule', { params: { id: 'large' }, body: { actions: ['pay.large'] } })
      for (const agent of ['own', 'other'])
        await api.ok('setSpendLimit', { params: { id: agent }, body: { daily_usd: 100 } })
    })
    afterAll(() => api.remit.close())
    /** Kinds of the entries from a size on. */
    const kindsFrom = async (from: number) => {
      const query = { after_seq: from - 1, order: 'asc' }
      const { data } = await api.ok('listEntries', { query })
      return new Set(data.map(({ kind }) => kind))
    }

    const size = async () => (await api.remit.ledger.head(api.org.id)).size
    const ask = (agent_id: string, action: string, more: object = {}) =>
      api.ok('authorize', { body: { agent_id, action, ...more } })
    /** A request for approval of an agent. */
    const requestOf = async (agent_id: string) => {
      const { approval } = await ask(agent_id, 'pay.large', { context: { n: Math.random() } })
      return approval?.id ?? ''
    }

    describe('POST /v1/authorize', () => {
      it('decides for its agent; the entry names the credential', async () => {
        const { decision, ledger } = await api.ok('authorize', {
          key,
          body: { agent_id: 'own', action: 'a.b' },
        })

        expect(decision).toBe('allow')
        expect(await api.remit.ledger.entry(api.org.id, ledger.seq)).toMatchObject({
          kind: 'authorization.decided',
          actor: { type: 'credential', id },
          agent_id: 'own',
        })
      })

      it('403 agent_mismatch for every other one, and no entry but that of the refusal', async () => {
        const before = await size()

        for (const agent_id of ['other', 'nobody', 'OWN', 'own ']) {
          const { code } = await api.refusal('authorize', {
            key,
            body: { agent_id, action: 'a.b' },
          })
          expect(code).toBe(agent_id === 'own ' ? 'invalid_request' : 'agent_mismatch')
        }
        expect(await kindsFrom(before)).toEqual(REFUSED)
      })
    })

    it('AuthZEN: 403 for another subject or agent, also in one of several', async () => {
      const asks = (subject: string, more: object = {}) => ({
        subject: { type: 'agent', id: subject },
        action: { name: 'a.b' },
        resource: { type: 'x', id: '1' },
        ...more,
      })
      const before = await size()
      const refused = [
        await api.refusal('accessEvaluation', { key, body: asks('other') }),
        await api.refusal('accessEvaluation', {
          key,
          body: {
            ...asks('ada', { context: { agent: 'other' } }),
            subject: { type: 'user', id: 'ada' },
          },
        }),
        await api.refusal('accessEvaluation', {
          key,
          body: { ...asks('ada'), subject: { type: 'user', id: 'ada' } },
        }),
      ]
      expect(refused.map(({ code }) => code)).toEqual(Array(3).fill('agent_mismatch'))
      const several = { evaluations: [asks('other')] }
      expect(await api.ok('accessEvaluations', { key, body: several })).toMatchObject({
        evaluations: [{ decision: false, context: { error: { status: 403 } } }],
      })
      expect(await kindsFrom(before)).toEqual(REFUSED)

      expect(await api.ok('accessEvaluation', { key, body: asks('own') })).toMatchObject({
        decision: true,
      })
    })

    it('AuthZEN: a registered agent cannot be judged as another one that the context names', async () => {
      const evaluate = (subject: object) =>
        api.ok('accessEvaluation', {
          body: {
            subject,
            action: { name: 'a.b' },
            resource: { type: 'x', id: '1' },
            context: { agent: 'other' },
          },
        })

      const answer = await evaluate({ type: 'user', id: 'own' })

      expect(answer).toMatchObject({
        decision: false,
        context: { reason: 'agent_denied', matched: [{ kind: 'agent', id: 'own' }] },
      })
      const { seq } = (answer as { context: { ledger: { seq: number } } }).context.ledger
      expect(await api.remit.ledger.entry(api.org.id, seq)).toMatchObject({ agent_id: 'other' })
      expect(await evaluate({ type: 'user', id: 'ada' })).toMatchObject({ decision: true })
    })

    it.each(['claudeCodeHook', 'codexHook'] as const)('%s: 403 for another agent', async (name) => {
      const call = { session_id: '1', tool_name: 'Bash', tool_use_id: '1' }
      const body = { hook_event_name: 'PreToolUse', ...call }
      const asks = (agent_id: string) => ({ key, body, query: { agent_id } })

      expect((await api.refusal(name, asks('other'))).code).toBe('agent_mismatch')
      await api.ok(name, asks('own'))
    })

    it('guard: 403 for another agent_id', async () => {
      const body = { content: 'hello', agent_id: 'other' }
      expect((await api.refusal('checkContent', { key, body })).code).toBe('agent_mismatch')
      expect(
        (await api.call('checkContent', { key, body: { ...body, agent_id: 'own' } })).status,
      ).toBe(200)
    })

    describe('POST /v1/ledger', () => {
      it('writes as its agent, whatever is left out', async () => {
        const entry = await api.ok('appendEntry', { key, body: { action: 'did.it', cost_usd: 1 } })

        expect(entry).toMatchObject({
          kind: 'entry.appended',
          actor: { type: 'agent', id: 'own' },
          agent_id: 'own',
          data: { credential_id: id },
        })
        expect(entry.data).not.toHaveProperty('key_id')
        const { spent } = await api.ok('getSpendLimit', { params: { id: 'own' } })
        expect(spent.day.usd).toBe(1)
      })

      it('cannot look like somebody else by the type of its actor', async () => {
        const body = { action: 'did.it', actor: { type: 'user', id: 'own' } }

        expect((await api.ok('appendEntry', { key, body })).actor).toEqual({
          type: 'agent',
          id: 'own',
        })
      })

      it.each([
        ['agent_id', { agent_id: 'other' }],
        ['actor', { actor: 'other' }],
        ['actor with a type', { actor: { type: 'user', id: 'ada' } }],
      ])('403 for another %s', async (_, more) => {
        const before = await size()
        const problem = await api.refusal('appendEntry', {
          key,
          body: { action: 'did.it', ...more },
        })

        expect(problem.code).toBe('agent_mismatch')
        expect(await size()).toBe(before)
      })

      it("404 for another agent's decision, as for one that is not there; its hold stays", async () => {
        const { decision_id } = await ask('other', 'a.b', { context: { amount_usd: 5 } })
        const settle = (decision: string) =>
          api.refusal('appendEntry', {
            key,
            body: { action: 'x', decision_id: decision, cost_usd: 0 },
          })

        const theirs = await settle(decision_id)
        const unknown = await settle('dec_unknown')

        expect(theirs.code).toBe('decision_not_found')
        expect(theirs.detail.replace(decision_id, '')).toBe(
          unknown.detail.replace('dec_unknown', ''),
        )
        const { spent } = await api.ok('getSpendLimit', { params: { id: 'other' } })
        expect(spent.day.held_usd).toBe(5)
      })

      it('settles its own', async () => {
        const { decision_id } = await ask('own', 'a.b', { context: { amount_usd: 5 } })
        const body = { action: 'did.it', decision_id, cost_usd: 6 }

        expect((await api.ok('appendEntry', { key, body })).agent_id).toBe('own')
      })
    })

    describe('GET /v1/ledger', () => {
      it('lists what is about its agent and nothing else', async () => {
        await ask('other', 'a.b')

        const { data } = await api.ok('listEntries', { key, query: { limit: 1000 } })

        expect(new Set(data.map(({ agent_id }) => agent_id))).toEqual(new Set(['own']))
        const about = { key, query: { agent_id: 'other' } }
        expect((await api.refusal('listEntries', about)).code).toBe('agent_mismatch')
      })

      it('answers for the entries of others as for those that are not there', async () => {
        const { ledger } = await ask('other', 'a.b')
        const own = await ask('own', 'a.b')
        for (const name of ['getEntry', 'getProof'] as const) {
          const refusal = (seq: number) => api.refusal(name, { key, params: { seq } })
          const [theirs, unknown] = [await refusal(ledger.seq), await refusal(1_000_000)]

          expect(theirs.code).toBe('ledger_entry_not_found')
          expect(theirs.detail.replace(String(ledger.seq), '')).toBe(
            unknown.detail.replace('1000000', ''),
          )
          expect((await api.call(name, { key, params: { seq: own.ledger.seq } })).status).toBe(200)
        }
      })
    })

    describe('approvals', () => {
      it('reads its own; of others it is not told that they are there', async () => {
        const [own, theirs] = [await requestOf('own'), await requestOf('other')]

        expect((await api.ok('getApproval', { key, params: { id: own } })).agent_id).toBe('own')
        const refused = await api.refusal('getApproval', { key, params: { id: theirs } })
        const unknown = await api.refusal('getApproval', { key, params: { id: 'apr_unknown' } })
        expect({ ...refused, request_id: '' }).toEqual({ ...unknown, request_id: '' })
        const { data } = await api.ok('listApprovals', { key })
        expect(new Set(data.map(({ agent_id }) => agent_id))).toEqual(new Set(['own']))
        const about = { key, query: { agent_id: 'other' } }
        expect((await api.refusal('listApprovals', about)).code).toBe('agent_mismatch')
      })

      it('withdraws its own; 404 for those of others', async () => {
        const [own, theirs] = [await requestOf('own'), await requestOf('other')]

        expect((await api.ok('cancelApproval', { key, params: { id: own } })).status).toBe(
          'cancelled',
        )
        const refused = await api.refusal('cancelApproval', { key, params: { id: theirs } })
        expect(refused.code).toBe('approval_not_found')
        expect((await api.ok('getApproval', { params: { id: theirs } })).status).toBe('pending')
      })

      it('never decides or takes back one, its own or not', async () => {
        const before = await requestOf('own')
        const calls = [
          api.refusal('decideApproval', {
            key,
            params: { requestID: before },
            body: { decision: 'approve', approver: 'bob' },
          }),
          api.refusal('revokeApproval', { key, params: { id: before } }),
          api.refusal('streamApprovals', { key }),
        ]

        for (const call of calls) expect((await call).code).toBe('principal_not_allowed')
        expect((await api.ok('getApproval', { params: { id: before } })).votes).toEqual([])
      })
    })

    it('spend: its own limit; 404 for those of others, as for none', async () => {
      expect((await api.ok('getSpendLimit', { key, params: { id: 'own' } })).agent_id).toBe('own')
      const refused = await api.refusal('getSpendLimit', { key, params: { id: 'other' } })
      const unknown = await api.refusal('getSpendLimit', { key, params: { id: 'nobody' } })
      expect({ ...refused, request_id: '' }).toEqual({ ...unknown, request_id: '' })
    })

    it('mints nothing: no credential, no key', async () => {
      const before = await size()
      const codes = [
        await api.refusal('issueCredential', {
          key,
          params: { agentID: 'own' },
          body: { scopes: ['guard'] },
        }),
        await api.refusal('createKey', { key, body: { role: 'admin' } }),
        await api.refusal('registerAgent', { key, body: { owners: [{ type: 'team', id: 'x' }] } }),
        await api.refusal('changeAgent', { key, params: { agentID: 'own' }, body: { name: 'x' } }),
        await api.refusal('revokeCredential', { key, params: { credID: id } }),
      ].map(({ code }) => code)

      expect(codes).toEqual(Array(5).fill('principal_not_allowed'))
      expect(await size()).toBe(before)
    })
  },
)
