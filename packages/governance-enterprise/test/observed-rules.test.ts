import { setPlan } from '@remit/core/orgs'
import { on } from '@remit/core/db'
import { runs, someDialects } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tables } from '../src/tables/schema.ts'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const REQUEST = { agent_id: 'payer', action: 'payments.transfer', context: { amount_usd: 40 } }
/** A condition that computes until it is aborted. */
const ENDLESS = 'context.many.exists(x, !(x in context.many))'
const MANY = Array.from({ length: 900 }, (_, i) => i)

describe.each(someDialects())('rules in the mode observe on %s', (dialect) => {
  let root: Api
  beforeAll(async () => {
    root = await createApi({ dialect })
  })
  afterAll(() => root.remit.close())

  const anew = async () => root.as(await root.remit.organization())
  const policy = (api: Api, body: object) =>
    api.ok('createPolicy', { body: { effect: 'deny', mode: 'observe', ...body } })
  const approvalRule = (api: Api, id: string, body: object = {}) =>
    api.ok('setApprovalRule', { params: { id }, body: { mode: 'observe', ...body } })
  const ask = (api: Api, body: object = {}) =>
    api.ok('authorize', { body: { ...REQUEST, ...body } })
  const dataOf = async (api: Api, answer: { ledger: { seq: number } }) => {
    const { data } = await api.ok('getEntry', { params: { seq: answer.ledger.seq } })
    return data as { observed?: unknown; observed_incomplete?: unknown }
  }

  it('decide nothing, and the entry has what they would have decided', async () => {
    const api = await anew()
    const deny = await policy(api, { condition: 'amount_usd > 10.0' })
    const allow = await policy(api, { effect: 'allow' })
    await policy(api, { condition: 'amount_usd > 100.0' })
    await policy(api, { actions: ['mail.*'] })
    const failing = await policy(api, { condition: 'context.missing == 1' })
    await policy(api, { effect: 'allow', condition: 'context.missing == 1' })
    await approvalRule(api, 'large')
    await approvalRule(api, 'failing', { condition: 'context.missing == 1' })

    const answer = await ask(api)

    expect(answer).toMatchObject({ decision: 'allow', reason: 'default_allow', matched: [] })
    expect(answer).not.toHaveProperty('warnings')
    const { observed, observed_incomplete: incomplete } = await dataOf(api, answer)
    expect(new Set(observed as [])).toEqual(
      new Set([
        { kind: 'policy', id: deny.id, revision: 1, would: 'deny' },
        { kind: 'policy', id: allow.id, revision: 1, would: 'allow' },
        { kind: 'policy', id: failing.id, revision: 1, would: 'error' },
        { kind: 'approval_rule', id: 'large', would: 'needs_approval' },
        { kind: 'approval_rule', id: 'failing', would: 'error' },
      ]),
    )
    expect(incomplete).toBeUndefined()
    expect((await api.ok('listApprovals', { query: {} })).data).toEqual([])
  })

  it('are evaluated whatever is decided, and shown by a dry-run', async () => {
    const api = await anew()
    const { id } = await policy(api, {})
    await api.ok('createPolicy', { body: { effect: 'deny', actions: ['payments.*'] } })
    const would = [{ kind: 'policy', id, revision: 1, would: 'deny' }]

    const answer = await ask(api)
    const [preview] = await root.remit.decider.preview(api.org.id, 'enterprise', [REQUEST])
    const [tried] = await root.remit.decider.preview(api.org.id, 'enterprise', [REQUEST], {
      overlay: { add: [{ effect: 'allow', mode: 'observe' }], remove: [id] },
    })

    expect(answer.reason).toBe('policy_deny')
    expect((await dataOf(api, answer)).observed).toEqual(would)
    expect(preview?.observed).toEqual(would)
    expect(tried?.observed).toEqual([{ kind: 'policy', id: 'overlay.0', would: 'allow' }])
  })

  it('match another reading of the name too', async () => {
    const api = await anew()
    await policy(api, { resources: ['tool:b'] })
    const claims = { readings: [{ resource: 'tool:b', context: {} }] }
    const options = { claims }

    const [preview] = await root.remit.decider.preview(
      api.org.id,
      'enterprise',
      [{ ...REQUEST, resource: 'tool:a' }],
      options,
    )

    expect(preview?.observed).toMatchObject([{ would: 'deny' }])
  })

  it('belong to the plan enterprise', async () => {
    const api = await anew()
    await policy(api, {})
    await setPlan(root.remit.writer, api.org.id, 'team')

    expect(await dataOf(api, await ask(api))).not.toHaveProperty('observed')
  })

  it('stop when their computing time ends, and the entry says so', async () => {
    const api = await anew()
    await policy(api, { condition: ENDLESS })
    await approvalRule(api, 'endless', { condition: ENDLESS })

    const answer = await ask(api, { context: { amount_usd: 1, many: MANY } })

    expect(answer.decision).toBe('allow')
    expect(await dataOf(api, answer)).toMatchObject({ observed_incomplete: true })
  })

  it('are at most 20 in an entry, which says that there are more', async () => {
    const api = await anew()
    for (let i = 0; i < 21; i++) await policy(api, { description: `${i}` })

    const data = await dataOf(api, await ask(api))

    expect(data.observed).toHaveLength(20)
    expect(data.observed_incomplete).toBe(true)
  })

  describe('their mode', () => {
    it('is enforce by default, and can be changed by a replacement', async () => {
      const api = await anew()
      const { id, mode } = await api.ok('createPolicy', { body: { effect: 'deny' } })
      const replace = (body: object) =>
        api.ok('replacePolicy', {
          params: { policyID: id },
          headers: { 'If-Match': '*' },
          body: { effect: 'deny', ...body },
        })

      expect(mode).toBe('enforce')
      expect((await ask(api)).decision).toBe('deny')
      expect(await replace({ mode: 'observe' })).toMatchObject({ mode: 'observe', enabled: true })
      expect((await ask(api)).decision).toBe('allow')
      expect(await replace({})).toMatchObject({ mode: 'enforce' })
      expect((await ask(api)).decision).toBe('deny')
    })

    it.each([
      ['createPolicy', {}, { effect: 'deny' }],
      ['setApprovalRule', { id: 'r' }, {}],
    ] as const)('is refused by %s for a rule that is not enabled', async (name, params, body) => {
      const api = await anew()
      const answer = await api.call(name, {
        params,
        body: { ...body, enabled: false, mode: 'observe' },
      })

      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ errors: [{ path: 'mode' }] })
      const unknown = await api.call(name, { params, body: { ...body, mode: 'shadow' } })
      expect(await unknown.json()).toMatchObject({ errors: [{ path: 'mode' }] })
    })

    it('round-trips, and is disabled for a release that does not know it', async () => {
      const api = await anew()
      const { id } = await policy(api, {})
      await approvalRule(api, 'large')

      expect(await api.ok('getPolicy', { params: { policyID: id } })).toMatchObject({
        enabled: true,
        mode: 'observe',
      })
      expect(await api.ok('getApprovalRule', { params: { id: 'large' } })).toMatchObject({
        enabled: true,
        mode: 'observe',
      })
      const stored = on<Tables>(root.remit.db)
      const [rule] = await stored
        .selectFrom('policy_rule')
        .select(['enabled', 'observed'])
        .where('org_id', '=', api.org.id)
        .execute()
      const [approval] = await stored
        .selectFrom('approval_rule')
        .select(['document', 'observed'])
        .where('org_id', '=', api.org.id)
        .execute()
      expect(rule).toEqual({ enabled: 0, observed: 1 })
      expect(approval?.observed).toBe(1)
      const document = JSON.parse(approval?.document ?? '') as object
      expect(document).toMatchObject({ enabled: false })
      expect(document).not.toHaveProperty('mode')
    })

    it('is enforce where an older release left both flags', async () => {
      const api = await anew()
      const { id } = await policy(api, {})
      await on<Tables>(root.remit.db)
        .updateTable('policy_rule')
        .set({ enabled: 1 })
        .where('org_id', '=', api.org.id)
        .execute()

      expect((await api.ok('getPolicy', { params: { policyID: id } })).mode).toBe('enforce')
      // Another change of the rules makes the stage load them again.
      await api.ok('createPolicy', { body: { effect: 'allow' } })
      expect((await ask(api)).decision).toBe('deny')
    })
  })

  it('change no answer and no effect of random requests, and are recorded for each that matches', async () => {
    const [observing, plain] = [await anew(), await anew()]
    for (const api of [observing, plain]) {
      await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 300 } })
      await api.ok('createPolicy', {
        body: { effect: 'deny', actions: ['db.drop'], description: 'No drops.' },
      })
      await api.ok('setApprovalRule', { params: { id: 'mail' }, body: { actions: ['mail.*'] } })
    }
    await policy(observing, { actions: ['payments.*'], condition: 'amount_usd > 50.0' })
    await policy(observing, { effect: 'allow', actions: ['db.*'] })
    await approvalRule(observing, 'all', { actions: ['payments.*', 'db.*'] })
    const requests = fc.record({
      agent_id: fc.constantFrom('payer', 'other'),
      action: fc.constantFrom('payments.transfer', 'db.drop', 'db.read', 'mail.send'),
      context: fc.record({ amount_usd: fc.integer({ min: 0, max: 100 }) }),
    })
    const told = ({ decision, reason, message, spend, limit_usd, approval }: object & Shown) =>
      JSON.stringify([decision, reason, message, spend, limit_usd, approval?.status])
    for (const body of fc.sample(requests, runs(10_000, 60))) {
      const [one, other] = [
        await observing.ok('authorize', { body }),
        await plain.ok('authorize', { body }),
      ]
      expect(told(one)).toBe(told(other))
      const { observed = [] } = (await dataOf(observing, one)) as {
        observed?: readonly { would: string }[]
      }
      const expected = [
        ...(body.action.startsWith('payments') && body.context.amount_usd > 50 ? ['deny'] : []),
        ...(body.action.startsWith('db') ? ['allow'] : []),
        ...(body.action.startsWith('mail') ? [] : ['needs_approval']),
      ]
      expect(observed.map(({ would }) => would)).toEqual(expected)
    }
  }, 900_000)
})

interface Shown {
  readonly decision: string
  readonly reason: string
  readonly message: string
  readonly spend?: unknown
  readonly limit_usd?: unknown
  readonly approval?: { readonly status: string } | undefined
}
