import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { decide, read, setRule } from '../support/approvals.ts'

const ASK = {
  subject: { type: 'agent', id: 'payer' },
  action: { name: 'payments.transfer' },
  resource: { type: 'account', id: '42' },
}

describe.each(someDialects())('AuthZEN and approvals on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  let amount = 0
  beforeAll(async () => {
    clock = createClock()
    api = await createApi({ dialect, clock })
    await setRule(api, { request_ttl_seconds: 600, approval_ttl_seconds: 60 })
  })
  afterAll(() => api.remit.close())
  beforeEach(() => {
    amount++
  })

  /** The agent's request in this test, with or without a reference to an approval. */
  const evaluate = (id?: string, context: object = { amount }) =>
    api.ok('accessEvaluation', {
      body: { ...ASK, context: { ...context, ...(id !== undefined && { approval: { id } }) } },
    })
  const open = async () => (await evaluate()).context?.approval?.id ?? 'none'

  it('a denial is lifted by an approval once, for exactly the requested action', async () => {
    const denied = await evaluate()

    expect(denied).toMatchObject({
      decision: false,
      context: {
        reason: 'approval_required',
        evaluation_id: expect.stringMatching(/^dec_/),
        access_request: { template: 'large', expires_at: expect.any(String) },
        approval: { status: 'pending' },
      },
    })
    const id = denied.context?.approval?.id ?? ''
    expect((await read(api, id)).decision_id).toBe(denied.context?.evaluation_id)
    expect((await evaluate(id)).context).toMatchObject({
      reason: 'approval_required',
      approval: { id },
    })

    await decide(api, id)

    expect(await evaluate(id)).toMatchObject({ decision: true, context: { reason: 'approved' } })
    expect(await evaluate(id)).toMatchObject({
      decision: false,
      context: {
        reason: 'approval_required',
        approval_reason: 'approval_expired',
        next_action: 'request',
      },
    })
  })

  it('an approval counts whether the request points at it or not', async () => {
    await decide(api, await open())

    expect((await evaluate()).decision).toBe(true)
  })

  it('an expired approval is reported as expired', async () => {
    const id = await open()
    await decide(api, id)
    clock.advance(61_000)

    expect((await evaluate(id)).context).toMatchObject({
      approval_reason: 'approval_expired',
      next_action: 'request',
      access_request: { template: 'large' },
    })
  })

  it('an approval of something else does not help', async () => {
    const id = await open()
    await decide(api, id)

    expect((await evaluate(id, { amount: amount + 0.5 })).context).toMatchObject({
      approval_reason: 'out_of_scope',
      next_action: 'request',
    })
    expect((await evaluate(id)).decision).toBe(true)
  })

  it.each(['apr_unknown', ''])('an approval that is not there (%j) does not help', async (id) => {
    expect((await evaluate(id)).context).toMatchObject({
      approval_reason: 'approval_unverifiable',
      next_action: 'none',
    })
  })

  it('the approval of another organization does not exist', async () => {
    const other = api.as(await api.remit.organization())
    await setRule(other)
    const body = { ...ASK, context: { amount, approval: { id: await open() } } }

    const { context } = await other.ok('accessEvaluation', { body })

    expect(context?.approval_reason).toBe('approval_unverifiable')
  })

  it('an approval never overrides a denial, and is not used up by one', async () => {
    const id = await open()
    await decide(api, id)
    await api.remit.ports.agentSwitch?.suspend(api.org.id, 'payer', 'test')

    const denied = await evaluate(id)

    expect(denied).toMatchObject({
      decision: false,
      context: {
        reason: 'agent_suspended',
        approval_reason: 'policy_denied',
        next_action: 'none',
      },
    })
    await api.remit.ports.agentSwitch?.resume(api.org.id, 'payer')
    expect((await evaluate(id)).decision).toBe(true)
  })

  it('a rejection is explained by its own reason', async () => {
    const id = await open()
    await decide(api, id, { decision: 'reject' })

    const { context } = await evaluate(id)
    expect(context?.reason).toBe('approval_rejected')
    expect(context).not.toHaveProperty('approval_reason')
  })

  it('a reference to nothing has no effect', async () => {
    for (const approval of [null, 7, 'apr_1', {}, []]) {
      const { context } = await evaluate(undefined, { amount, approval })
      expect(context?.reason).toBe('approval_required')
    }
  })
})
