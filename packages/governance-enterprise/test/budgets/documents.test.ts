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

  it('fit together after a change, whatever the order of its parts', async () => {
    const tree = (root: object, a: object, b: object, both: object = {}) => [
      document('root', { ...company, ...both, ...root }),
      ...Object.entries({ a, b }).map(([name, more]) =>
        document(name, {
          ...company,
          parent_id: 'root',
          reserved: true,
          match: { agents: [name] },
          ...both,
          ...more,
        }),
      ),
    ]
    await apply(tree({ limit: 100 }, { limit: 60 }, { limit: 40 }))
    const narrow = { actions: ['pay.*'] }
    for (const documents of [
      tree({ limit: 100 }, { limit: 70 }, { limit: 30 }),
      tree({ limit: 50 }, { limit: 30 }, { limit: 20 }),
      tree({ limit: 100 }, { limit: 60 }, { limit: 40 }, { hold_ttl_seconds: 60 }),
      tree(
        { match: narrow },
        { limit: 1, match: { agents: ['a'], ...narrow } },
        { limit: 1, match: { agents: ['b'], ...narrow } },
      ),
      tree({ limit: 100 }, { limit: 60 }, { limit: 40 }),
    ])
      await apply(documents)

    const before = (await api.ok('listBudgets')).data
    const invalid = tree({ limit: 100 }, { limit: 70 }, { limit: 40 })
    expect(
      await api.refusal('planPolicySet', { params, body: { documents: invalid } }),
    ).toMatchObject({
      status: 422,
      code: 'budget_overallocated',
      detail: expect.stringContaining('exceed the limit of root'),
    })
    const wide = tree({ match: narrow }, { limit: 1 }, { limit: 1 })
    expect(await api.refusal('planPolicySet', { params, body: { documents: wide } })).toMatchObject(
      {
        code: 'budget_wider_than_parent',
        detail: expect.stringContaining('a matches'),
      },
    )
    expect((await api.ok('listBudgets')).data).toEqual(before)
    const empty = { documents: [], allow_empty: true }
    const { plan_digest } = await api.ok('planPolicySet', { params, body: empty })
    await api.ok('applyPolicySet', { params, body: { ...empty, plan_digest } })
  })

  it('parents in a circle are refused', async () => {
    const circle = [
      document('a', { ...company, parent_id: 'b' }),
      document('b', { ...company, parent_id: 'a' }),
    ]
    expect(
      await api.refusal('planPolicySet', { params, body: { documents: circle } }),
    ).toMatchObject({ status: 422, code: 'budget_tree_invalid' })
    expect(await ids()).toEqual([])
  })
})
