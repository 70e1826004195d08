import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, refusalOf } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const PATH = '/access/v1/evaluation'
const ASK = {
  subject: { type: 'agent', id: 'payer' },
  action: { name: 'payments.transfer' },
  resource: { type: 'account', id: '42' },
}

describe.each(someDialects())('POST /access/v1/evaluation on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock: createClock(NOW) })
    await api.ok('setSpendLimit', { params: { id: 'capped' }, body: { daily_usd: 5 } })
  })
  afterAll(() => api.remit.close())

  const evaluate = (more: object = {}, headers: Record<string, string> = {}) =>
    api.ok('accessEvaluation', { body: { ...ASK, ...more }, headers })
  const size = async () => (await api.remit.ledger.head(api.org.id)).size

  it('allows by the same decision, with the same entry, as /v1/authorize', async () => {
    const facts = { context: { amount_usd: 3 } }
    const subject = { type: 'agent', id: 'capped' }

    const { decision, context } = await evaluate({ subject, ...facts })

    expect(decision).toBe(true)
    expect(context).toMatchObject({ reason: 'default_allow', evaluated_at: NOW, matched: [{}] })
    const entry = await api.ok('getEntry', { params: { seq: context?.ledger?.seq ?? -1 } })
    expect(entry).toMatchObject({
      kind: 'authorization.decided',
      actor: { type: 'key' },
      agent_id: 'capped',
      action: 'payments.transfer',
      resource: 'account:42',
      decision: 'allow',
      data: { decision_id: context?.evaluation_id, ...facts, subject },
    })
    expect((await api.ok('getSpendLimit', { params: { id: 'capped' } })).spent.day.held_usd).toBe(3)
  })

  it('denies with 200 and a reason', async () => {
    const answer = await evaluate({
      subject: { type: 'agent', id: 'capped' },
      context: { amount_usd: 100 },
    })

    expect(answer).toMatchObject({ decision: false, context: { reason: 'spend_limit_daily' } })
  })

  it('records the person the agent acts for, and the stated properties', async () => {
    const { context } = await evaluate({
      subject: { type: 'user', id: 'alice', properties: { role: 'clerk' } },
      action: { name: 'delete', properties: { soft: true } },
      resource: { type: 'record', id: '1', properties: { status: 'active' } },
      context: { agent: 'helper' },
    })

    const entry = await api.ok('getEntry', { params: { seq: context?.ledger?.seq ?? -1 } })
    expect(entry).toMatchObject({
      agent_id: 'helper',
      data: {
        subject: { type: 'user', id: 'alice', properties: { role: 'clerk' } },
        action_properties: { soft: true },
        resource_properties: { status: 'active' },
      },
    })
  })

  it('ignores what it does not know, anywhere', async () => {
    const answer = await evaluate({
      subject: { ...ASK.subject, next: 1 },
      futureField: { nested: true },
      dry_run: true,
    })

    expect(answer.decision).toBe(true)
  })

  it('echoes X-Request-ID on every answer', async () => {
    for (const body of [ASK, {}]) {
      const headers = { 'x-request-id': 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716' }
      const response = await api.call('accessEvaluation', { body, headers })
      expect(response.headers.get('x-request-id')).toBe(headers['x-request-id'])
    }
  })

  it('repeats its own answer to a repeated request, and decides once', async () => {
    const headers = { 'idempotency-key': 'evaluation-1' }
    const before = await size()

    const [first, second] = [await evaluate({}, headers), await evaluate({}, headers)]

    expect(second).toEqual(first)
    expect(await size()).toBe(before + 1)
  })

  it('returns the signed note with Prefer: receipt', async () => {
    const { context } = await evaluate({}, { prefer: 'receipt' })

    expect(context?.ledger?.checkpoint).toBe(await api.ok('getCheckpoint'))
  })

  describe('400, never 415, and no entry', () => {
    const send = (body: string, headers: Record<string, string>) =>
      api.remit.app.request(PATH, {
        method: 'POST',
        headers: { authorization: `Bearer ${api.org.key}`, ...headers },
        body,
      })
    const json = { 'content-type': 'application/json' }

    it.each([
      ['another media type', JSON.stringify(ASK), { 'content-type': 'text/plain' }],
      ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['malformed JSON', '{"subject":', json],
      ['no body', '', json],
      ['a list', '[]', json],
      ['a name twice', '{"subject":1,"subject":2}', json],
    ])('%s', async (_, body, headers) => {
      const before = await size()

      const { status } = await refusalOf(await send(body, headers))

      expect(status).toBe(400)
      expect(await size()).toBe(before)
    })

    it('no media type at all', async () => {
      const body = new TextEncoder().encode(JSON.stringify(ASK))
      const response = await api.remit.app.request(PATH, {
        method: 'POST',
        headers: { authorization: `Bearer ${api.org.key}` },
        body,
      })

      expect((await refusalOf(response)).status).toBe(400)
    })

    it.each([
      ['no subject', { subject: undefined }, 'subject'],
      ['no action', { action: undefined }, 'action'],
      ['no resource', { resource: undefined }, 'resource'],
      ['no type', { subject: { id: 'a' } }, 'subject.type'],
      ['text for an entity', { subject: 'alice' }, 'subject'],
      ['a number for a name', { action: { name: 123 } }, 'action.name'],
      ['a name that is a pattern', { action: { name: 'payments.*' } }, 'action.name'],
      ['an invisible character', { subject: { type: 'agent', id: 'pay\u200ber' } }, 'subject.id'],
      ['a context that is no object', { context: 'now' }, 'context'],
      ['a context beyond its limits', { context: { text: 'x'.repeat(70_000) } }, 'context'],
      [
        'an agent that is no name',
        { subject: { type: 'user', id: 'a' }, context: { agent: 7 } },
        'context.agent',
      ],
    ])('%s', async (_, more, path) => {
      const problem = await api.refusal('accessEvaluation', { body: { ...ASK, ...more } })

      expect([problem.code, problem.errors?.map((error) => error.path)]).toEqual([
        'invalid_request',
        [path],
      ])
    })
  })

  it('401 without a key', async () => {
    const response = await api.call('accessEvaluation', { key: 'none', body: ASK })

    expect((await refusalOf(response)).code).toBe('unauthorized')
    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer realm="remit", error="invalid_token"',
    )
  })

  it('403 for keys and plans that may not authorize', async () => {
    for (const role of ['read', 'approver'] as const) {
      const key = await api.remit.key(api.org.id, role)
      const problem = await api.refusal('accessEvaluation', { key, body: ASK })
      expect(problem.code).toBe('role_required')
    }
    const free = api.as(await api.remit.organization('free'))
    expect((await free.refusal('accessEvaluation', { body: ASK })).code).toBe('plan_required')
  })
})
