import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const document = (name: string, spec: object, kind = 'Budget') => ({
  apiVersion: 'remit.dev/v1',
  kind,
  name,
  spec,
})
const company = { unit: 'usd', window: 'day', limit: 10 }
const params = { id: 'main' }

describe.each(someDialects())('budgets in policy sets on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  afterAll(() => api.remit.close())

  const apply = async (documents: readonly object[]) => {
    const plan = await api.ok('planPolicySet', { params, body: { documents } })
    const { plan_digest } = plan
    await api.ok('applyPolicySet', { params, body: { documents, plan_digest } })
    return plan
  }
  const ids = async () => (await api.ok('listBudgets')).data.map(({ id }) => id)

  it('are planned with their tests, applied parents first, and removed children first', async () => {
    const tests = {
      cases: [
        {
          name: 'no more than ten dollars',
          request: { agent_id: 'payer', action: 'a.b', context: { amount_usd: 11 } },
          expect: { decision: 'deny', reason: 'budget_exceeded' },
        },
        {
          name: 'eight for others',
          request: { agent_id: 'other', action: 'a.b', context: { amount_usd: 9 } },
          expect: { decision: 'deny', reason: 'budget_exceeded' },
        },
      ],
    }
    const slice = { ...company, limit: 2, parent_id: 'zcompany', reserved: true }
    const documents = [
      document('team', { ...slice, match: { agents: ['payer'] } }),
      document('zcompany', company),
      document('tests', tests, 'Tests'),
    ]
    const plan = await apply(documents)
    expect(plan.tests).toMatchObject({ passed: 2, failed: 0 })
    expect(plan.changes.map(({ name, weakens }) => [name, weakens])).toEqual([
      ['zcompany', false],
      ['team', false],
    ])
    expect(await ids()).toEqual(['team', 'zcompany'])
    expect((await api.ok('planPolicySet', { params, body: { documents } })).changes).toEqual([])

    // A change outside of the set is drift.
    await api.ok('setBudget', { params: { id: 'zcompany' }, body: { ...company, limit: 20 } })
    const { drift } = await api.ok('planPolicySet', { params, body: { documents } })
    expect(drift).toMatchObject([{ kind: 'Budget', name: 'zcompany', change: 'changed' }])
    const { plan_digest } = await api.ok('planPolicySet', { params, body: { documents } })
    const body = { documents, plan_digest, overwrite_drift: true }
    await api.ok('applyPolicySet', { params, body })

    const empty = { documents: [], allow_empty: true }
    const gone = await api.ok('planPolicySet', { params, body: empty })
    await api.ok('applyPolicySet', {
      params,
      body: { ...empty, plan_digest: gone.plan_digest },
    })
    expect(await ids()).toEqual([])
  })

  it('parents in a circle are refused, and judge tests without an end all the same', async () => {
    const circle = [
      document('a', { ...company, parent_id: 'b' }),
      document('b', { ...company, parent_id: 'a' }),
    ]
    const { plan_digest } = await api.ok('planPolicySet', { params, body: { documents: circle } })
    expect(
      await api.refusal('applyPolicySet', { params, body: { documents: circle, plan_digest } }),
    ).toMatchObject({ status: 422, code: 'budget_tree_invalid' })
    expect(await ids()).toEqual([])
  })
})
