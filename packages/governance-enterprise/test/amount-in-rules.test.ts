import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const OVER = 'amount_usd > 1000'
const [LARGE, SMALL] = [{ amount: 1005 }, { amount: 5 }]
const NO_AMOUNT = {}
const INVALID = { amount: 1005, currency: 'EUR' }

describe.each(someDialects())('amount_usd in rules on %s', (dialect) => {
  let root: Api
  beforeAll(async () => {
    root = await createApi({ dialect })
  })
  afterAll(() => root.remit.close())

  const anew = async () => root.as(await root.remit.organization())
  const reasons = async (api: Api, contexts: readonly object[]) => {
    const found: string[] = []
    for (const context of contexts) {
      const body = { agent_id: 'payer', action: 'payments.transfer', context }
      found.push((await api.ok('authorize', { body })).reason)
    }
    return found
  }
  const ALL = [LARGE, { amount_usd: 1005 }, SMALL, { amount_usd: 5 }, NO_AMOUNT, INVALID]

  it('a deny knows both spellings, and denies a call without a valid amount', async () => {
    const api = await anew()
    await api.ok('createPolicy', { body: { effect: 'deny', condition: OVER } })

    expect(await reasons(api, ALL)).toEqual([
      'policy_deny',
      'policy_deny',
      'default_allow',
      'default_allow',
      'policy_error',
      'policy_error',
    ])
  })

  it('the amount is that of the spend limit, which is one amount in the answer', async () => {
    const api = await anew()
    const params = { id: 'payer' }
    await api.ok('setSpendLimit', { params, body: { daily_usd: 1_000_000 } })
    await api.ok('createPolicy', { body: { effect: 'allow', condition: 'amount_usd == 1005.25' } })

    for (const context of [{ amount: 1005.25 }, { amount_usd: 1005.25, amount: null }]) {
      const body = { agent_id: 'payer', action: 'payments.transfer', context }
      const { reason, spend } = await api.ok('authorize', { body })
      expect([reason, spend?.amount_usd]).toEqual(['policy_allow', 1005.25])
    }
  })

  it('an allow matches no call without a valid amount, nor does a permission', async () => {
    const api = await anew()
    const params = { id: 'small' }
    const body = { agent_id: 'payer', condition: '!(amount_usd > 1000)' }
    await api.ok('grantPermission', { params, body })
    await api.ok('createPolicy', { body: { effect: 'allow', condition: 'amount_usd <= 1000' } })

    expect(await reasons(api, ALL)).toEqual([
      'no_permission',
      'no_permission',
      'policy_allow',
      'policy_allow',
      'no_permission',
      'no_permission',
    ])
    await api.ok('grantPermission', {
      params: { id: 'no' },
      body: { agent_id: 'payer', effect: 'deny', condition: 'amount_usd > 3' },
    })
    expect(await reasons(api, [SMALL, NO_AMOUNT])).toEqual(['agent_denied', 'agent_denied'])
  })

  it('an approval rule asks, and an approval of one amount is for that amount', async () => {
    const api = await anew()
    await api.ok('setApprovalRule', {
      params: { id: 'large' },
      body: { condition: OVER, binding_context: ['amount_usd', 'amount', 'currency'] },
    })
    expect(await reasons(api, ALL)).toEqual([
      'approval_required',
      'approval_required',
      'default_allow',
      'default_allow',
      'approval_required',
      'approval_required',
    ])
    const { data } = await api.ok('listApprovals', { query: { status: 'pending' } })
    for (const { id } of data)
      await api.ok('decideApproval', { params: { requestID: id }, body: { decision: 'approve' } })

    const others = [
      { amount: 1006 },
      { amount: 1005, amount_usd: 1005 },
      { amount: 1005, amount_usd: 99_999 },
      { amount: 1005, currency: 'CHF' },
    ]
    expect(await reasons(api, others)).toEqual(others.map(() => 'approval_required'))
    expect(await reasons(api, [{ amount: 1005, note: 'x' }])).toEqual(['approved'])
  })

  it('decides AuthZEN evaluations', async () => {
    const api = await anew()
    await api.ok('createPolicy', { body: { effect: 'deny', condition: OVER } })
    const reasonOf = async (context: object) => {
      const subject = { type: 'agent', id: 'payer' }
      const body = { subject, action: { name: 'pay' }, resource: { type: 'a', id: '1' }, context }
      const answer = await api.ok('accessEvaluation', { body })
      return [answer.decision, answer.context?.reason]
    }

    expect(await reasonOf(LARGE)).toEqual([false, 'policy_deny'])
    expect(await reasonOf(SMALL)).toEqual([true, 'default_allow'])
    expect(await reasonOf(NO_AMOUNT)).toEqual([false, 'policy_error'])
  })

  it('is no amount of the arguments of a tool call of a host: the rule denies it', async () => {
    const api = await anew()
    const resources = ['tool:pay']
    await api.ok('createPolicy', { body: { effect: 'deny', resources, condition: OVER } })
    const hook = {
      hook_event_name: 'PreToolUse',
      session_id: 's',
      tool_name: 'mcp__bank__pay',
      tool_input: { amount: 5 },
      tool_use_id: 't1',
    }

    const { hookSpecificOutput } = await api.ok('claudeCodeHook', { body: hook, query: {} })
    expect(hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
  })
})
