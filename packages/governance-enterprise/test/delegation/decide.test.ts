import { setPlan } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

describe.each(someDialects())('permissions in POST /v1/authorize on %s', (dialect) => {
  let root: Api
  beforeAll(async () => {
    root = await createApi({ dialect, clock: createClock() })
  })
  afterAll(() => root.remit.close())

  const anew = async () => root.as(await root.remit.organization())
  const grant = (api: Api, id: string, body: object) =>
    api.ok('grantPermission', { params: { id }, body })
  const ask = (api: Api, body: object = {}) =>
    api.ok('authorize', { body: { agent_id: 'payer', action: 'payments.transfer', ...body } })

  it('a grant allows and is named with its whole chain, in the answer and in the entry', async () => {
    const api = await anew()
    await grant(api, 'top', { agent_id: 'planner', can_delegate: true, max_depth: 1 })
    await grant(api, 'cut', { agent_id: 'payer', parent_id: 'top' })

    const answer = await ask(api)

    const matched = [
      { kind: 'permission', id: 'top' },
      { kind: 'permission', id: 'cut' },
    ]
    expect(answer).toMatchObject({ decision: 'allow', reason: 'permission_grant', matched })
    const entry = await api.ok('getEntry', { params: { seq: answer.ledger.seq } })
    expect(entry).toMatchObject({ reason: 'permission_grant', data: { matched } })
  })

  it('a deny answers before anything else, with its description', async () => {
    const api = await anew()
    await grant(api, 'grant', { agent_id: 'payer' })
    await grant(api, 'deny', {
      agent_id: '*',
      effect: 'deny',
      actions: ['payments.*'],
      description: 'Payments are stopped until Monday.',
    })
    await api.ok('createPolicy', { body: { effect: 'allow' } })
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 0 } })

    expect(await ask(api)).toMatchObject({
      decision: 'deny',
      reason: 'agent_denied',
      message: 'Payments are stopped until Monday.',
      matched: [{ kind: 'permission', id: 'deny' }],
    })
  })

  it('a denial whose condition fails denies, with that reason', async () => {
    const api = await anew()
    await grant(api, 'deny', {
      agent_id: 'payer',
      effect: 'deny',
      condition: 'context.amount > 5.0',
    })

    expect(await ask(api)).toMatchObject({
      reason: 'agent_denied',
      message: 'The condition of the denial deny cannot be evaluated.',
    })
    expect(await ask(api, { context: { amount: 5 } })).toMatchObject({ decision: 'allow' })
  })

  it('no policy and no approval opens what no grant allows', async () => {
    const api = await anew()
    await grant(api, 'grant', { agent_id: 'payer', actions: ['mail.*'] })
    await api.ok('createPolicy', { body: { effect: 'allow' } })

    expect(await ask(api)).toMatchObject({ decision: 'deny', reason: 'no_permission', matched: [] })
  })

  it('a grant does not open what a policy denies or an approval is needed for', async () => {
    const api = await anew()
    await grant(api, 'grant', { agent_id: 'payer' })
    await api.ok('setApprovalRule', { params: { id: 'ask' }, body: { actions: ['payments.*'] } })
    expect(await ask(api)).toMatchObject({ decision: 'needs_approval' })

    await api.ok('createPolicy', { body: { effect: 'deny', actions: ['payments.*'] } })

    expect(await ask(api)).toMatchObject({ decision: 'deny', reason: 'policy_deny' })
  })

  it('an allow by a policy gives its own reason; the chain is still named', async () => {
    const api = await anew()
    await grant(api, 'grant', { agent_id: 'payer' })
    const { id } = await api.ok('createPolicy', { body: { effect: 'allow' } })

    expect(await ask(api)).toMatchObject({
      decision: 'allow',
      reason: 'policy_allow',
      matched: [
        { kind: 'permission', id: 'grant' },
        { kind: 'policy', id },
      ],
    })
  })

  it('all of it counts on the team plan too, where it can no longer be changed', async () => {
    const api = await anew()
    await grant(api, 'grant', { agent_id: 'payer', actions: ['mail.*'] })
    await grant(api, 'deny', { agent_id: 'clerk', effect: 'deny' })

    await setPlan(api.remit.writer, api.org.id, 'team')

    expect(await ask(api)).toMatchObject({ reason: 'no_permission' })
    expect(await ask(api, { action: 'mail.send' })).toMatchObject({ reason: 'permission_grant' })
    expect(await ask(api, { agent_id: 'clerk' })).toMatchObject({ reason: 'agent_denied' })
    const refused = await api.refusal('revokePermission', { params: { id: 'grant' } })
    expect(refused.code).toBe('plan_required')
  })

  it('does not affect the agents of another organization', async () => {
    const [here, there] = [await anew(), await anew()]
    await grant(here, 'grant', { agent_id: 'payer', actions: ['mail.*'] })
    await grant(here, 'deny', { agent_id: '*', effect: 'deny' })

    expect(await ask(there)).toMatchObject({ decision: 'allow', reason: 'default_allow' })
  })

  it('a suspension and its end keep the grants, for the agent and those after it', async () => {
    const api = await anew()
    await grant(api, 'top', { agent_id: 'planner', can_delegate: true, max_depth: 1 })
    await grant(api, 'cut', { agent_id: 'payer', parent_id: 'top' })
    const stop = api.remit.ports.agentSwitch

    await stop?.suspend(api.org.id, 'planner', 'under review')
    expect(await ask(api, { agent_id: 'planner' })).toMatchObject({
      reason: 'agent_suspended',
      message: 'The agent is suspended: under review',
      matched: [{ kind: 'agent', id: 'planner' }],
    })
    expect(await ask(api)).toMatchObject({ reason: 'no_permission' })
    await stop?.resume(api.org.id, 'planner')

    expect(await ask(api)).toMatchObject({ reason: 'permission_grant' })
  })
})
