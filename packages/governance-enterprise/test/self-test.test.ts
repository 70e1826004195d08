import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

describe.each(someDialects())('reserved actions on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    await api.ok('createPolicy', { body: { effect: 'deny', actions: ['*'] } })
    await api.ok('setApprovalRule', { params: { id: 'held' }, body: { actions: ['*'] } })
    await api.ok('setSpendLimit', { params: { id: 'a' }, body: { daily_usd: 1 } })
  })
  afterAll(() => api.remit.close())

  const ask = (action: string) =>
    api.ok('authorize', { body: { agent_id: 'a', action, context: { amount_usd: 500 } } })

  it.each(['allow', 'deny', 'needs_approval'])(
    'remit.selftest.%s is answered before all rules, and recorded as a self-test',
    async (decision) => {
      const answer = await ask(`remit.selftest.${decision}`)
      const { data } = await api.ok('listEntries', { query: { limit: 1 } })

      expect(answer).toMatchObject({ decision, reason: 'self_test', matched: [] })
      expect(data[0]).toMatchObject({
        kind: 'selftest.checked',
        decision,
        data: { decision_id: answer.decision_id },
      })
    },
  )

  it('hold no money and open no approval', async () => {
    await ask('remit.selftest.allow')
    const held = await ask('remit.selftest.needs_approval')

    expect(held.approval).toMatchObject({ id: 'apr_selftest', status: 'pending' })
    expect((await api.ok('listApprovals')).data).toEqual([])
    const { spent } = await api.ok('getSpendLimit', { params: { id: 'a' } })
    expect(spent.day).toMatchObject({ usd: 0, held_usd: 0 })
  })

  it('are these three; other actions are decided by the rules', async () => {
    expect(await ask('remit.selftest.other')).toMatchObject({ decision: 'deny' })
    expect(await ask('remit.selftest.allow.all')).toMatchObject({ decision: 'deny' })
  })
})
