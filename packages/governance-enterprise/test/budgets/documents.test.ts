import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
  let server: Api
  let api: Api
  beforeAll(async () => {
    server = await createApi({ dialect })
  })
  beforeEach(async () => {
    api = server.as(await server.remit.organization())
  })
  afterAll(() => server.remit.close())

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

  const child = { ...company, parent_id: 'root', reserved: true }
  const agents = (...all: string[]) => ({ match: { agents: all } })
  const tree = (root: object, a: object, b: object) => [
    document('root', { ...company, limit: 100, ...root }),
    document('a', { ...child, limit: 60, ...agents('pay.a'), ...a }),
    document('b', { ...child, limit: 40, ...agents('pay.b'), ...b }),
  ]
  /** Budgets of the agent payer, but for one of another agent. */
  const named = (count: number, other?: number) =>
    Array.from({ length: count }, (_, i) =>
      document(`own-${i}`, { ...company, ...agents(i === other ? 'other' : 'payer') }),
    )
  const ttl = { hold_ttl_seconds: 60 }
  const targets: [what: string, target: object[]][] = [
    ['shares of slices', tree({}, { limit: 70 }, { limit: 30 })],
    ['all limits', tree({ limit: 50 }, { limit: 30 }, { limit: 20 })],
    ['what slices and parents have in common', tree(ttl, ttl, ttl)],
    [
      'the match of parents and children',
      tree(agents('pay.*'), agents('pay.a.*'), agents('pay.b.*')),
    ],
    ['which eight budgets name an agent', [...named(9, 1), ...tree({}, {}, {})]],
    ['the share of a slice that goes', tree({}, { limit: 100 }, {}).slice(0, 2)],
  ]
  it.each(targets)('can change %s, and change them back', async (_, target) => {
    const wide = [...named(9, 0), ...tree(agents('*'), agents('*'), agents('pay.b', 'pay.b.*'))]
    const specs = async () =>
      (await api.ok('getPolicySetDocuments', { params, query: {} })).documents
    await apply(wide)
    const before = await specs()
    expect((await apply(target)).warnings).toEqual([])
    const plan = await api.ok('planPolicySet', { params, body: { documents: target } })
    expect(plan.changes).toEqual([])
    expect(await specs()).not.toEqual(before)
    await apply(wide)
    expect(await specs()).toEqual(before)
  })

  it('are refused by plan and apply where they would not fit together', async () => {
    const root = async (limit: number) =>
      api.ok('setBudget', { params: { id: 'root' }, body: { ...company, limit } })
    const slices = (a: number, b: number) => tree({}, { limit: a }, { limit: b }).slice(1)
    await root(110)
    const documents = slices(70, 40)
    const { plan_digest } = await api.ok('planPolicySet', { params, body: { documents } })
    await root(100)
    const refusal = {
      status: 422,
      code: 'budget_overallocated',
      errors: [{ path: 'documents.0.spec.limit', message: expect.any(String) as string }],
    }
    const planned = await api.refusal('planPolicySet', { params, body: { documents } })
    expect(planned).toMatchObject(refusal)
    const body = { documents, plan_digest }
    expect(await api.refusal('applyPolicySet', { params, body })).toMatchObject(refusal)
    expect(await ids()).toEqual(['root'])
  })

  it('are refused by a plan that names the document', async () => {
    await apply(tree({}, {}, {}))
    const refused = async (documents: readonly object[]) => {
      const body = { documents, allow_empty: true }
      const { code, errors, detail } = await api.refusal('planPolicySet', { params, body })
      return [code, errors?.[0]?.path ?? detail]
    }
    const circle = ['c', 'd', 'e'].map((name, i) =>
      document(name, { ...company, parent_id: ['e', 'c', 'd'][i] }),
    )
    expect(await refused(circle)).toEqual(['budget_tree_invalid', 'documents.1.spec.parent_id'])
    const overallocated = tree({}, { limit: 70 }, {})
    expect(await refused(overallocated)).toEqual(['budget_overallocated', 'documents.1.spec.limit'])
    const wider = tree(agents('pay.a', 'pay.b'), agents('other'), {})
    expect(await refused(wider)).toEqual([
      'budget_wider_than_parent',
      'documents.0.spec.match.agents',
    ])
    const other = tree({ unit: 'calls' }, { unit: 'calls' }, { unit: 'calls' })
    expect(await refused(other)).toEqual(['budget_fixed', 'documents.0.spec.unit'])
    const ninth = 'documents.0.spec: At most 8 budgets can name the agent payer'
    expect(await refused(named(9))).toEqual(['too_many_budgets', ninth])
    const broad = Array.from({ length: 25 }, (_, i) => document(`all-${i}`, company))
    expect((await refused(broad))[0]).toBe('too_many_budgets')
    expect((await refused([document('spend:a:day', company)]))[0]).toBe('budget_fixed')
    const outside = { ...child, limit: 0, ...agents('pay.c') }
    await api.ok('setBudget', { params: { id: 'outside' }, body: outside })
    expect(await refused([])).toEqual([
      'budget_has_children',
      'Budget root: Remove the children first: outside',
    ])
  })
})
