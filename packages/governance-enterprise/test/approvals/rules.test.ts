import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerOf, createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const params = { id: 'large' }
const DEFAULTS = {
  description: null,
  enabled: true,
  mode: 'enforce',
  agents: ['*'],
  actions: ['*'],
  resources: ['*'],
  condition: null,
  approvers: null,
  required_approvals: 1,
  required_rejections: 1,
  prevent_self_approval: true,
  reason_required: false,
  comment_to_agent: false,
  request_ttl_seconds: 86_400,
  approval_ttl_seconds: 3600,
  rejection_cooldown_seconds: 3600,
  binding_context: null,
}

describe.each(someDialects())('/v1/approval-rules on %s', (dialect) => {
  let first: Api
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    first = await createApi({ dialect, clock })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    clock.set(NOW)
    api = first.as(await first.remit.organization())
  })

  const set = (body: object, id = 'large') => api.call('setApprovalRule', { params: { id }, body })

  describe('POST /v1/approval-rules/{id}', () => {
    it('201 with defaults, its place and an entry that has the whole rule', async () => {
      const response = await set({})

      expect(response.status).toBe(201)
      expect(response.headers.get('location')).toBe('/v1/approval-rules/large')
      const { ledger, warnings, ...rule } = await answerOf('setApprovalRule', response)
      expect(warnings).toEqual([])
      expect(rule).toEqual({
        id: 'large',
        ...DEFAULTS,
        created_at: NOW,
        created_by: `key_${api.org.key.slice(4, 20)}`,
        updated_at: NOW,
      })
      const entry = await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })
      expect(entry).toMatchObject({ kind: 'approval_rule.set', data: { approval_rule: rule } })
      expect(await api.ok('getApprovalRule', { params })).toEqual(rule)
    })

    it('200 and replaces the whole rule', async () => {
      await set({ description: 'first', required_approvals: 2, binding_context: ['amount'] })
      clock.advance(1000)

      const response = await set({ condition: 'amount_usd > 1000.0' })

      expect(response.status).toBe(200)
      expect(await answerOf('setApprovalRule', response)).toMatchObject({
        ...DEFAULTS,
        condition: 'amount_usd > 1000.0',
        created_at: NOW,
        updated_at: '2026-11-20T08:00:01.000Z',
      })
    })

    it('warns of roles that no key has, and of what the condition leaves open', async () => {
      const { warnings = [] } = await answerOf(
        'setApprovalRule',
        await set({
          approvers: { roles: ['finance'] },
          actions: ['tools/call'],
          resources: ['write_file'],
          condition: 'has(context.n) && context.n > 5',
        }),
      )

      expect(warnings[0]).toContain('finance')
      expect(warnings[1]).toContain('write tool:write_file')
      expect(warnings.join()).toContain('a request without context.n passes this rule')
    })

    it.each([
      ['an empty list of agents', { agents: [] }, 'agents'],
      ['an empty list of actions', { actions: [] }, 'actions'],
      ['an empty list of resources', { resources: [] }, 'resources'],
      ['a misspelt field', { condtion: 'true' }, 'condtion'],
      ['a condition that does not compile', { condition: 'context.amount >' }, 'condition'],
      ['a condition that gives a number', { condition: '1.0 + 1.0' }, 'condition'],
      ['a condition over the approval itself', { condition: 'has(context.approval)' }, 'condition'],
      ['nobody who may decide', { approvers: {} }, 'approvers'],
      ['empty lists of those who may decide', { approvers: { users: [], roles: [] } }, 'approvers'],
      ['no approvals', { required_approvals: 0 }, 'required_approvals'],
      ['half an approval', { required_approvals: 1.5 }, 'required_approvals'],
      [
        'more approvals than people',
        { approvers: { users: ['alice', 'Alice'] }, required_approvals: 2 },
        'required_approvals',
      ],
      [
        'more rejections than people',
        { approvers: { users: ['alice'] }, required_rejections: 2 },
        'required_rejections',
      ],
      ['no time to decide', { request_ttl_seconds: 0 }, 'request_ttl_seconds'],
      ['no time to use it', { approval_ttl_seconds: 0 }, 'approval_ttl_seconds'],
      ['a negative time', { rejection_cooldown_seconds: -1 }, 'rejection_cooldown_seconds'],
      [
        'a binding that lacks what the condition reads',
        { condition: 'context.amount > 1.0 && context.to == "x"', binding_context: ['amount'] },
        'binding_context',
      ],
      [
        'a binding that lacks a spelling of the amount that the condition reads',
        { condition: 'amount_usd > 1.0', binding_context: ['amount_usd', 'amount'] },
        'binding_context',
      ],
      [
        'a binding beside a condition that reads the context as a whole',
        { condition: 'context.exists(name, name == "x")', binding_context: ['amount'] },
        'binding_context',
      ],
    ])('400 for %s', async (_, body, path) => {
      const problem = await api.refusal('setApprovalRule', { params, body })

      expect(problem.status).toBe(400)
      expect(problem.errors?.map((error) => error.path)).toContain(path)
    })

    it('accepts a binding with the members that the condition reads', async () => {
      const condition = 'context.amount > 1.0'
      const response = await set({ condition, binding_context: ['amount', 'vendor'] })

      expect(response.status).toBe(201)
    })

    it('403 for every role but admin', async () => {
      for (const role of ['ingest', 'approver', 'read'] as const) {
        const key = await api.remit.key(api.org.id, role)
        const problem = await api.refusal('setApprovalRule', { params, key, body: {} })
        expect(problem.code).toBe('role_required')
      }
    })

    it('403 below the enterprise plan', async () => {
      const team = api.as(await api.remit.organization('team'))

      const problem = await team.refusal('setApprovalRule', { params, body: {} })

      expect(problem).toMatchObject({ code: 'plan_required', required_plan: 'enterprise' })
    })
  })

  describe('GET /v1/approval-rules', () => {
    it('200 with pages in the order of ids', async () => {
      for (const id of ['c', 'a', 'b']) await set({}, id)

      const page = await api.ok('listApprovalRules', { query: { limit: 2 } })
      const next = await api.ok('listApprovalRules', { query: { cursor: page.next_cursor ?? '' } })

      expect(page.data.map(({ id }) => id)).toEqual(['a', 'b'])
      expect(next.data.map(({ id }) => id)).toEqual(['c'])
      expect(next.next_cursor).toBeNull()
    })

    it('404 for an unknown rule, and for that of another organization', async () => {
      await set({})
      const other = api.as(await api.remit.organization())

      expect((await other.refusal('getApprovalRule', { params })).code).toBe(
        'approval_rule_not_found',
      )
      expect((await other.ok('listApprovalRules')).data).toEqual([])
    })
  })

  describe('DELETE /v1/approval-rules/{id}', () => {
    it('204, with an entry; the next decision follows it', async () => {
      await set({ actions: ['payments.*'] })
      const body = { agent_id: 'payer', action: 'payments.transfer' }
      expect((await api.ok('authorize', { body })).decision).toBe('needs_approval')

      await api.ok('removeApprovalRule', { params })

      expect(await api.ok('authorize', { body })).toMatchObject({ decision: 'allow', matched: [] })
      const { data } = await api.ok('listEntries', { query: { kind: 'approval_rule.removed' } })
      expect(data[0]?.data).toMatchObject({ approval_rule: { id: 'large' } })
    })

    it('404 the second time, and for that of another organization', async () => {
      await set({})
      const other = api.as(await api.remit.organization())
      expect((await other.refusal('removeApprovalRule', { params })).status).toBe(404)
      await api.ok('removeApprovalRule', { params })

      expect((await api.refusal('removeApprovalRule', { params })).code).toBe(
        'approval_rule_not_found',
      )
    })
  })
})
