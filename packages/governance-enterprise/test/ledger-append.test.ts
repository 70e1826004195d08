import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())('POST /v1/ledger on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock: createClock(NOW) })
  })
  afterAll(() => api.remit.close())

  const allow = async (agent_id: string, amount_usd: number) => {
    const body = { agent_id, action: 'payments.pay', context: { amount_usd } }
    const answer = await api.ok('authorize', { body })
    expect(answer.decision).toBe('allow')
    return answer.decision_id
  }
  const today = async (id: string) => (await api.ok('getSpendLimit', { params: { id } })).spent.day
  const limited = async (id: string) => {
    await api.ok('setSpendLimit', { params: { id }, body: { daily_usd: 100 } })
    return id
  }

  describe('201', () => {
    it('answers the entry as the ledger has it, with its receipt', async () => {
      const body = {
        action: 'mail.sent',
        agent_id: 'mailer',
        resource: { type: 'mail', id: '7', properties: { size: 3 } },
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        metadata: { to: ['a@example.org'] },
        occurred_at: '2026-11-19T23:59:59.123Z',
        outcome: 'success',
      }

      const { ledger, ...entry } = await api.ok('appendEntry', { body })

      expect(entry).toMatchObject({
        kind: 'entry.appended',
        recorded_at: NOW,
        actor: { type: 'agent', id: 'mailer' },
        agent_id: 'mailer',
        action: 'mail.sent',
        resource: 'mail:7',
        decision: null,
        reason: null,
        data: {
          trace_id: body.trace_id,
          metadata: body.metadata,
          occurred_at: body.occurred_at,
          outcome: 'success',
          resource_properties: { size: 3 },
        },
      })
      expect(ledger).toMatchObject({ seq: entry.seq, hash: entry.hash })
      expect(await api.ok('getEntry', { params: { seq: entry.seq } })).toMatchObject(entry)
    })

    it.each([
      [
        'the actor that is given as parts',
        { actor: { type: 'user', id: 'ada' }, agent_id: 'm' },
        { type: 'user', id: 'ada' },
      ],
      [
        'the agent that is given as actor',
        { actor: 'scheduler', agent_id: 'm' },
        { type: 'agent', id: 'scheduler' },
      ],
      ['the agent', { agent_id: 'm' }, { type: 'agent', id: 'm' }],
      ['else the key', {}, { type: 'key', id: expect.stringMatching(/^key_/) }],
    ])('names as actor %s', async (_, given, actor) => {
      expect((await api.ok('appendEntry', { body: { action: 'x.y', ...given } })).actor).toEqual(
        actor,
      )
    })

    it('records the writing key, whatever actor is stated', async () => {
      const entry = await api.ok('appendEntry', { body: { action: 'x.y', actor: 'someone-else' } })

      expect(entry.data).toMatchObject({ key_id: `key_${api.org.key.slice(4, 20)}` })
    })

    it('takes an empty resource and trace id as none', async () => {
      const entry = await api.ok('appendEntry', {
        body: { action: 'x.y', resource: '', trace_id: '' },
      })

      expect(entry.resource).toBeNull()
      expect(entry.data).not.toHaveProperty('trace_id')
    })

    it('counts cost as spend of the agent, else of the actor', async () => {
      await limited('spender')

      await api.ok('appendEntry', {
        body: { action: 'x.y', agent_id: 'spender', actor: 'other', cost_usd: 1.25 },
      })
      await api.ok('appendEntry', { body: { action: 'x.y', actor: 'spender', cost_usd: 0.000001 } })

      expect(await today('spender')).toMatchObject({ usd: 1.250001, held_usd: 0 })
    })

    it.each([
      ['the same', 30, 30],
      ['more', 45.5, 45.5],
      ['less', 12, 12],
      ['nothing, which releases it', 0, 0],
    ])('settles a hold with %s', async (name, cost_usd, usd) => {
      const agent = await limited(`settle-${name.split(',')[0]?.replace(' ', '-')}`)
      const decision_id = await allow(agent, 30)
      expect(await today(agent)).toMatchObject({ usd: 0, held_usd: 30 })

      const entry = await api.ok('appendEntry', {
        body: { action: 'payments.paid', decision_id, cost_usd },
      })

      expect(entry).toMatchObject({ agent_id: agent, data: { decision_id, cost_usd } })
      expect(await today(agent)).toMatchObject({ usd, held_usd: 0 })
    })

    it('settles a decision that held nothing, too', async () => {
      const body = { agent_id: await limited('unpriced'), action: 'llm.call' }
      const { decision_id } = await api.ok('authorize', { body })

      await api.ok('appendEntry', { body: { action: 'llm.called', decision_id, cost_usd: 0.25 } })

      expect(await today('unpriced')).toMatchObject({ usd: 0.25, held_usd: 0 })
      const again = await api.refusal('appendEntry', {
        body: { action: 'llm.called', decision_id, cost_usd: 0.25 },
      })
      expect(again.code).toBe('decision_settled')
    })
  })

  describe('400', () => {
    it.each([
      ['a kind', { kind: 'authorization.decided' }, 'kind'],
      ['a sequence number', { seq: 1 }, 'seq'],
      ['a decision', { decision: 'allow' }, 'decision'],
      ['a negative cost', { cost_usd: -1 }, 'cost_usd'],
      ['seven decimals', { cost_usd: 0.0000001 }, 'cost_usd'],
      ['an actor without an id', { actor: { type: 'user' } }, 'actor.id'],
      ['a time that is not UTC', { occurred_at: '2026-11-20T08:00:00+02:00' }, 'occurred_at'],
      ['an empty outcome', { outcome: '' }, 'outcome'],
      ['an outcome of its own', { outcome: 'allow' }, 'outcome'],
      ['a control character in the trace id', { trace_id: 'a\u001b[2Kb' }, 'trace_id'],
      ['a line break in the trace id', { trace_id: 'a\nb' }, 'trace_id'],
      ['a right-to-left override in the trace id', { trace_id: 'a\u202eb' }, 'trace_id'],
      ...['system', 'key', 'credential', 'person', 'issuer', 'System', 'robot'].map(
        (type): [string, object, string] => [
          `an actor of the type ${type}`,
          { actor: { type, id: 'remit' } },
          'actor.type',
        ],
      ),
    ])('refuses %s', async (_, wrong, path) => {
      const problem = await api.refusal('appendEntry', { body: { action: 'x.y', ...wrong } })

      expect(problem.errors?.map((error) => error.path)).toEqual([path])
    })

    it('refuses to settle a decision in the name of another agent', async () => {
      const decision_id = await allow(await limited('owner'), 5)

      const problem = await api.refusal('appendEntry', {
        body: { action: 'x.y', agent_id: 'not-the-owner', decision_id, cost_usd: 5 },
      })

      expect(problem.errors?.map((error) => error.path)).toEqual(['agent_id'])
      expect(await today('owner')).toMatchObject({ usd: 0, held_usd: 5 })
    })
  })

  it('403 for a key that may only read or decide', async () => {
    for (const role of ['read', 'approver'] as const) {
      const key = await api.remit.key(api.org.id, role)
      expect((await api.refusal('appendEntry', { key, body: { action: 'x.y' } })).code).toBe(
        'role_required',
      )
    }
  })

  it("404 for an unknown decision, and word for word the same for another organization's", async () => {
    const other = api.as(await api.remit.organization())
    const foreign = await allow('anyone', 5)
    const unknown = foreign.replace(/.$/, foreign.endsWith('0') ? '1' : '0')
    const settle = async (decision_id: string) => {
      const { request_id: _, ...problem } = await other.refusal('appendEntry', {
        body: { action: 'x.y', decision_id, cost_usd: 1 },
      })
      return JSON.stringify(problem).replaceAll(decision_id, '<id>')
    }

    expect(await settle(foreign)).toBe(await settle(unknown))
    expect(await settle(foreign)).toContain('decision_not_found')
  })

  describe('409', () => {
    it('a decision is settled once', async () => {
      const agent = await limited('once')
      const decision_id = await allow(agent, 10)
      const settle = { action: 'x.y', decision_id, cost_usd: 4 }
      await api.ok('appendEntry', { body: settle })

      const again = await api.refusal('appendEntry', { body: settle })

      expect(again.code).toBe('decision_settled')
      expect(await today(agent)).toMatchObject({ usd: 4, held_usd: 0 })
    })

    it('a decision is settled once, however many ask at once', async () => {
      const agent = await limited('at-once')
      const decision_id = await allow(agent, 10)

      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          api.call('appendEntry', { body: { action: 'x.y', decision_id, cost_usd: 4 } }),
        ),
      )

      const statuses = answers.map((answer) => answer.status)
      expect(statuses.filter((status) => status === 201)).toHaveLength(1)
      expect(statuses.filter((status) => status === 409)).toHaveLength(19)
      expect(await today(agent)).toMatchObject({ usd: 4, held_usd: 0 })
    })
  })
})
