import { defineModule } from '@remit/core/module'
import type { Deps } from '@remit/core/module'
import { OPERATOR, setLimits } from '@remit/core/orgs'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import governance from '../src/index.ts'
import { removeSet } from '../src/policy-sets/apply.ts'
import { putObjects } from '../src/policy-sets/store.ts'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const API = 'remit.dev/v1'
const document = (kind: string, name: string, spec: object) => ({
  apiVersion: API,
  kind,
  name,
  spec,
})
const DENY = document('Policy', 'no-payments', { effect: 'deny', actions: ['payments.*'] })
const REFUNDS = document('ApprovalRule', 'large-refunds', {
  actions: ['refunds.create'],
  condition: 'context.amount_usd > 500.0',
})
const LIMIT = document('SpendLimit', 'payer', { agent_id: 'payer', daily_usd: 100 })
const GRANT = document('Permission', 'payer-pays', {
  agent_id: 'payer',
  can_delegate: true,
  max_depth: 1,
})
const CHILD = document('Permission', 'a-child-pays', { agent_id: 'child', parent_id: 'payer-pays' })
const ALL = [
  // A child comes before its parent, and the kinds are in no order.
  CHILD,
  LIMIT,
  REFUNDS,
  DENY,
  GRANT,
  document('Settings', 'settings', { default_effect: 'deny', four_eyes: true }),
  document('AgentMode', 'helper', { agent_id: 'helper', mode: 'granted' }),
]
const PAY = { agent_id: 'payer', action: 'payments.transfer' }

describe.each(someDialects())('policy sets on %s', (dialect) => {
  let root: Api
  let api: Api
  let deps: Deps
  const beside = defineModule({
    name: 'beside',
    setup: (own) => {
      deps = own
      return {}
    },
  })
  beforeAll(async () => {
    root = await createApi({ dialect, modules: [governance, beside] })
  })
  afterAll(() => root.remit.close())
  beforeEach(async () => {
    api = root.as(await root.remit.organization())
  })

  const id = 'main'
  const params = { id }
  const plan = (documents: object[], body: object = {}) =>
    api.ok('planPolicySet', { params, body: { documents, ...body } })
  const applyBody = async (documents: object[], body: object = {}) => {
    const { plan_digest } = await plan(documents, body)
    return { documents, plan_digest, ...body }
  }
  const apply = async (documents: object[], body: object = {}, more: object = {}) =>
    api.ok('applyPolicySet', {
      params,
      body: { ...(await applyBody(documents, body)), ...more },
    })
  const changesOf = ({ changes }: { changes: { change: string; kind: string; name: string }[] }) =>
    changes.map(({ change, kind, name }) => `${change} ${kind} ${name}`)
  const pulled = async (query: Record<string, string> = {}) =>
    (await api.ok('getPolicySetDocuments', { params, query })).documents
  const decide = async (body: object = PAY) => (await api.ok('authorize', { body })).decision
  const entries = async () => {
    const { data } = await api.ok('listEntries', { query: { order: 'asc', limit: 1000 } })
    return data
  }
  const drift = async () => (await api.ok('getPolicySet', { params })).drift

  it('are planned without an effect, and applied in one change', async () => {
    const before = await entries()
    const planned = await plan(ALL)

    expect(changesOf(planned)).toEqual([
      'adopt Settings settings',
      'create Policy no-payments',
      'create ApprovalRule large-refunds',
      'create Permission payer-pays',
      'create Permission a-child-pays',
      'create SpendLimit payer',
      'create AgentMode helper',
    ])
    expect(await decide()).toBe('allow')
    await apply(ALL)

    expect(await decide()).toBe('deny')
    const written = (await entries()).slice(before.length)
    const kinds = written.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'policy.dry_run')).toHaveLength(2)
    const changes = written.filter(
      ({ data }) => data && 'policy_set' in data && !('method' in data),
    )
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(
      new Set([
        'organization.updated',
        'policy.created',
        'approval_rule.set',
        'permission.granted',
        'agent_mode.set',
        'spend_limit.set',
      ]),
    )
    expect(written.find(({ kind }) => kind === 'policy_set.applied')).toMatchObject({
      data: { set: id, revision: 1, counts: { create: 6, adopt: 1 } },
    })
  })

  it('are the same after they are read back: a plan changes nothing', async () => {
    await apply(ALL)
    const documents = await pulled()

    expect(documents).toHaveLength(ALL.length)
    for (const again of [documents, ALL, await pulled()]) {
      const planned = await plan(again)
      expect(planned).toMatchObject({ changes: [], drift: [], unchanged: ALL.length })
    }
    expect(await pulled()).toEqual(documents)
  })

  it('adopt what is in no set, and leave what has no deletion', async () => {
    await api.ok('replacePolicy', { params: { policyID: 'own' }, body: { effect: 'deny' } })
    await api.ok('setAgentMode', { params: { agent_id: 'a b' }, body: { mode: 'granted' } })
    const documents = await pulled({ unmanaged: 'true' })
    expect(documents.map(({ kind }) => kind)).toEqual(['Settings', 'Policy', 'AgentMode'])
    expect(documents[2]?.name).toMatch(/^agent-[0-9a-f]{16}$/)
    const planned = await plan(documents)
    expect(changesOf(planned).map((one) => one.split(' ')[0])).toEqual(['adopt', 'adopt', 'adopt'])
    await apply(documents)
    const size = (await entries()).length

    const emptied = await apply([], { allow_empty: true })

    expect(new Set(changesOf(emptied))).toEqual(
      new Set([
        `release AgentMode ${documents[2]?.name}`,
        'delete Policy own',
        'release Settings settings',
      ]),
    )
    expect((await api.ok('getOrganization')).settings.default_effect).toBe('allow')
    const { data } = await api.ok('listPolicies')
    expect(data).toEqual([])
    const kinds = (await entries()).slice(size).map(({ kind }) => kind)
    expect(kinds).toEqual(['policy.dry_run', 'policy.deleted', 'policy_set.applied'])
  })

  it('replace what changed, and delete what the documents lack', async () => {
    await apply(ALL)
    const wider = document('Policy', 'no-payments', { effect: 'deny', actions: ['*'] })

    const applied = await apply([wider, GRANT, LIMIT])

    expect(new Set(changesOf(applied))).toEqual(
      new Set([
        'release AgentMode helper',
        'delete ApprovalRule large-refunds',
        'delete Permission a-child-pays',
        'release Settings settings',
        'replace Policy no-payments',
      ]),
    )
    expect(await decide({ agent_id: 'x', action: 'mail.send' })).toBe('deny')
    expect(applied.changes.filter(({ weakens }) => weakens).map(({ name }) => name)).toEqual([
      'large-refunds',
    ])
    expect(await plan([wider, GRANT, LIMIT])).toMatchObject({ changes: [], unchanged: 3 })
  })

  it('are applied as they were planned, or not at all', async () => {
    const body = await applyBody([DENY])
    const refused = async (change: object) =>
      (await api.refusal('applyPolicySet', { params, body: { ...body, ...change } })).code

    expect(await refused({ documents: [DENY, LIMIT] })).toBe('plan_stale')
    expect(await refused({ plan_digest: 'x' })).toBe('plan_stale')
    expect(await decide()).toBe('allow')
    const two = await Promise.all([1, 2].map(() => api.call('applyPolicySet', { params, body })))
    expect(two.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    expect(await refused({})).toBe('plan_stale')
  })

  it('notice a change outside of them, and overwrite it only on demand', async () => {
    await apply(ALL)
    const changed = { effect: 'allow', actions: ['payments.*'] }
    const headers = { 'if-match': '*' }
    await api.ok('replacePolicy', { params: { policyID: 'no-payments' }, body: changed, headers })
    await api.ok('removeSpendLimit', { params: { id: 'payer' } })
    const { data } = await api.ok('listEntries', { query: { order: 'desc', limit: 4 } })
    expect(data.map(({ kind }) => kind)).toEqual([
      'policy_set.drifted',
      'spend_limit.removed',
      'policy_set.drifted',
      'policy.updated',
    ])
    const found = [
      { kind: 'Policy', change: 'changed', seq: data[3]?.seq, by: data[3]?.actor?.id },
      { kind: 'SpendLimit', change: 'deleted', seq: data[1]?.seq },
    ]
    expect(await drift()).toMatchObject(found)

    const planned = await plan(ALL)
    expect(planned.drift).toMatchObject(found)
    const body = { documents: ALL, plan_digest: planned.plan_digest }
    const refused = await api.refusal('applyPolicySet', { params, body })
    expect(refused).toMatchObject({ code: 'drifted', drift: found })

    await api.ok('applyPolicySet', { params, body: { ...body, overwrite_drift: true } })
    expect(await drift()).toEqual([])
    expect(await decide()).toBe('deny')
    expect((await api.ok('getSpendLimit', { params: { id: 'payer' } })).daily_usd).toBe(100)
  })

  it('accept drift to what their documents say', async () => {
    await apply([DENY])
    const spec = { effect: 'deny', actions: ['*'] }
    const headers = { 'if-match': '*' }
    await api.ok('replacePolicy', { params: { policyID: 'no-payments' }, body: spec, headers })

    await apply([document('Policy', 'no-payments', spec)])

    expect(await drift()).toEqual([])
  })

  it('do not notice settings that they do not have', async () => {
    await apply([document('Settings', 'settings', { four_eyes: true })])
    await api.ok('changeOrganization', { body: { settings: { default_effect: 'deny' } } })
    expect(await drift()).toEqual([])
    await api.ok('changeOrganization', { body: { settings: { four_eyes: false } } })
    expect(await drift()).toMatchObject([{ kind: 'Settings', change: 'changed' }])
  })

  it('name who changed one of their settings last, whatever else changes after it', async () => {
    await apply([document('Settings', 'settings', { four_eyes: true })])
    const change = async (settings: object, key: string) => {
      await api.ok('changeOrganization', { body: { settings }, key })
      const query = { kind: 'organization.updated', limit: 1 }
      return (await api.ok('listEntries', { query })).data[0]
    }
    const other = await api.remit.key(api.org.id, 'admin')
    const made = await change({ four_eyes: false }, api.org.key)
    await change({ retention_days: 500 }, other)
    expect(await drift()).toMatchObject([{ by: made?.actor?.id, seq: made?.seq }])
    const { data } = await api.ok('listEntries', { query: { kind: 'policy_set.drifted' } })
    expect(data).toHaveLength(1)

    await api.ok('lockPolicySet', { params, body: { locked: true } })
    await change({ retention_days: 501, default_effect: 'deny' }, other)
    const body = { settings: { retention_days: 502, four_eyes: true } }
    const { code } = await api.refusal('changeOrganization', { body })
    expect(code).toBe('managed_by_policy_set')
    expect(await drift()).toMatchObject([{ by: made?.actor?.id, seq: made?.seq }])
  })

  it('have settings one by one: a plan names what joins, changes and leaves', async () => {
    const settings = (spec: object) => [document('Settings', 'settings', spec)]
    await apply(settings({ default_effect: 'deny', four_eyes: true }))
    const parts = async (spec: object) =>
      (await plan(settings(spec))).changes.map(({ change, before, after }) => ({
        change,
        before,
        after,
      }))
    const left = { change: 'release', before: { default_effect: 'deny' }, after: null }
    expect(await parts({ four_eyes: true })).toEqual([left])
    expect(await parts({ four_eyes: false })).toEqual([
      left,
      { change: 'replace', before: { four_eyes: true }, after: { four_eyes: false } },
    ])
    const joined = { four_eyes: true, unknown_agents: 'allow' }
    expect(await parts(joined)).toEqual([left, { change: 'adopt', before: joined, after: joined }])

    const applied = await apply(settings({ four_eyes: true }))
    expect(applied.changes).toMatchObject([left])
    expect((await api.ok('getOrganization')).settings.default_effect).toBe('deny')
    expect((await pulled())[0]?.spec).toEqual({ four_eyes: true })
  })

  it('are not stale after a change of settings that they do not have', async () => {
    const change = (settings: object) => api.ok('changeOrganization', { body: { settings } })
    await apply([document('Settings', 'settings', { four_eyes: true })])
    const body = await applyBody([document('Settings', 'settings', { four_eyes: false })])
    await change({ default_effect: 'deny' })
    await api.ok('applyPolicySet', { params, body })
    const stale = await applyBody([document('Settings', 'settings', { four_eyes: true })])
    await change({ four_eyes: true })
    const { code } = await api.refusal('applyPolicySet', { params, body: stale })
    expect(code).toBe('plan_stale')
  })

  it('that are locked are changed by their plans and emergency stops only', async () => {
    await apply(ALL)
    await api.ok('lockPolicySet', { params, body: { locked: true } })
    const put = { params: { policyID: 'no-payments' }, body: { effect: 'allow' } }
    const headers = { 'if-match': '*' }
    const refused = await api.refusal('replacePolicy', { ...put, headers })
    expect(refused).toMatchObject({ code: 'managed_by_policy_set', policy_set: id })
    const limit = (body: object) => api.call('setSpendLimit', { params: { id: 'payer' }, body })
    expect((await limit({ daily_usd: 101 })).status).toBe(409)
    expect((await limit({ daily_usd: 50, hold_ttl_seconds: 5 })).status).toBe(409)
    expect((await limit({ daily_usd: 0 })).status).toBe(200)
    // The end of an emergency stop is none.
    expect((await limit({ daily_usd: 100 })).status).toBe(409)
    expect(await drift()).toMatchObject([{ kind: 'SpendLimit', change: 'changed' }])
    await api.ok('createPolicy', { body: { effect: 'deny' } })

    await apply([DENY, LIMIT, GRANT], {}, { overwrite_drift: true })
    await api.ok('lockPolicySet', { params, body: { locked: false } })
    expect((await api.call('replacePolicy', { ...put, headers })).status).toBe(200)
  })

  it('do not share an object', async () => {
    await apply([DENY])
    const other = { params: { id: 'other' }, body: { documents: [DENY] } }
    const planned = await api.ok('planPolicySet', other)
    expect(planned.warnings).toEqual(['Policy no-payments belongs to the policy set main'])
    const body = { ...other.body, plan_digest: planned.plan_digest }
    const refused = await api.refusal('applyPolicySet', { ...other, body })
    expect(refused).toMatchObject({ code: 'managed_by_policy_set', policy_set: id })
  })

  it('are changed by the plan of another set only as by others', async () => {
    await apply([GRANT])
    const other = { params: { id: 'other' } }
    const body = { documents: [CHILD] }
    const { plan_digest } = await api.ok('planPolicySet', { ...other, body })
    await api.ok('applyPolicySet', { ...other, body: { ...body, plan_digest } })
    // Without its parent, the permission of the other set ends too.
    const change = await applyBody([], { allow_empty: true })
    await api.ok('lockPolicySet', { ...other, body: { locked: true } })
    const stale = await applyBody([], { allow_empty: true })
    expect(stale.plan_digest).toBe(change.plan_digest)
    const refused = await api.refusal('applyPolicySet', { params, body: stale })
    expect(refused).toMatchObject({ code: 'managed_by_policy_set', policy_set: 'other' })

    await api.ok('lockPolicySet', { ...other, body: { locked: false } })
    await api.ok('applyPolicySet', { params, body: stale })
    const { drift: found } = await api.ok('getPolicySet', other)
    expect(found).toMatchObject([{ kind: 'Permission', name: 'a-child-pays', change: 'deleted' }])
  })

  it('keep the mode of an agent that a grant of theirs would change', async () => {
    const mode = document('AgentMode', 'payer', { agent_id: 'payer', mode: 'open' })
    const mail = { agent_id: 'payer', action: 'mail.send' }
    const narrow = document('Permission', 'pays', { agent_id: 'payer', actions: ['payments.*'] })
    const tests = document('Tests', 'mail', {
      cases: [{ name: 'mail', request: mail, expect: { decision: 'allow' } }],
    })
    await apply([mode])
    const documents = [mode, narrow, tests]
    expect((await plan(documents)).tests).toMatchObject({ passed: 1, failed: 0 })
    await apply(documents)

    expect(await decide(mail)).toBe('allow')
    expect(await plan(documents)).toMatchObject({ changes: [], drift: [] })
  })

  it('are removed with their objects or without them', async () => {
    await apply(ALL)
    await api.ok('removePolicySet', { params, query: { objects: 'keep' } })
    expect((await api.ok('listPolicies')).data).toHaveLength(1)
    await apply(ALL)
    await api.ok('removePolicySet', { params, query: { objects: 'delete' } })
    expect((await api.ok('listPolicies')).data).toEqual([])
    expect((await api.ok('listPolicySets')).data).toEqual([])
    expect((await api.refusal('getPolicySet', { params })).code).toBe('policy_set_not_found')
  })

  it('are removed with drifted objects on demand only, and with pauses', async () => {
    await apply([DENY, LIMIT])
    const limit = { params: { id: 'payer' }, body: { daily_usd: 0 } }
    await api.ok('setSpendLimit', limit)
    const remove = { params, query: { objects: 'delete' } }
    expect(await api.refusal('removePolicySet', remove)).toMatchObject({
      code: 'drifted',
      drift: [{ kind: 'SpendLimit', name: 'payer' }],
    })
    expect((await api.ok('getSpendLimit', { params: { id: 'payer' } })).daily_usd).toBe(0)
    // Nothing is overwritten where nothing is left.
    await api.ok('removeSpendLimit', { params: { id: 'payer' } })

    let pauses = 0
    const pace = { rest: () => Promise.resolve(void pauses++) }
    const change = removeSet(deps, id, 'delete', pace)
    await api.remit.writer.change(api.org.id, OPERATOR, change)
    expect(pauses).toBe(2)
    expect((await api.ok('listPolicies')).data).toEqual([])
    expect((await api.ok('listPolicySets')).data).toEqual([])
  })

  it('are 20 at most', async () => {
    const place = (at: number) => ({ params: { id: `set-${at}` } })
    const documents = (at: number) => [
      document('Policy', `of-${at}`, { effect: 'deny', actions: [`a.${at}`] }),
    ]
    for (let at = 0; at < 20; at++) {
      const body = { documents: documents(at) }
      const { plan_digest } = await api.ok('planPolicySet', { ...place(at), body })
      await api.ok('applyPolicySet', { ...place(at), body: { ...body, plan_digest } })
    }
    const body = { documents: documents(20) }
    const code = 'too_many_policy_sets'
    expect(await api.refusal('planPolicySet', { ...place(20), body })).toMatchObject({ code })
    const wrong = { ...place(20), body: { ...body, plan_digest: 'x' } }
    expect(await api.refusal('applyPolicySet', wrong)).toMatchObject({ code })
    await api.ok('removePolicySet', { ...place(0), query: { objects: 'keep' } })
    const { plan_digest } = await api.ok('planPolicySet', { ...place(20), body })
    await api.ok('applyPolicySet', { ...place(20), body: { ...body, plan_digest } })
  })

  it('leave the objects of a module that is gone alone, and name their kind', async () => {
    await apply([DENY])
    // As a server with that module has left it.
    const row = { org_id: api.org.id, kind: 'TrustPolicy', object_id: 't', set_id: id, name: 't' }
    const unchanged = { spec: '{}', changed_by: null, changed_seq: null, changed_at: null }
    await putObjects(api.remit.db, [{ ...row, ...unchanged }])
    const refusal = { status: 400, detail: expect.stringContaining('TrustPolicy t') }
    const body = { documents: [DENY] }
    expect(await api.refusal('planPolicySet', { params, body })).toMatchObject(refusal)
    const removal = { params, query: { objects: 'delete' } }
    expect(await api.refusal('removePolicySet', removal)).toMatchObject(refusal)
    expect((await api.ok('getPolicySet', { params })).objects).toHaveLength(2)
    expect((await api.ok('listPolicies')).data).toHaveLength(1)
  })

  it('are tested as they would decide', async () => {
    const decided = (decision: string, matched?: string[]) => ({
      decision,
      ...(matched && { matched }),
    })
    const tests = document('Tests', 'payments', {
      cases: [
        { name: 'no payment', request: PAY, expect: decided('deny', ['no-payments']) },
        {
          name: 'a large refund',
          request: { agent_id: 'x', action: 'refunds.create', context: { amount_usd: 501 } },
          expect: { ...decided('needs_approval', ['large-refunds']), reason: 'approval_required' },
        },
        {
          name: 'a small refund',
          request: { agent_id: 'x', action: 'refunds.create', context: { amount_usd: 5 } },
          expect: decided('allow'),
          at: '2026-11-01T00:00:00Z',
        },
      ],
    })
    const planned = await plan([DENY, REFUNDS, LIMIT, tests])
    expect(planned.tests.cases.filter(({ passed }) => !passed)).toEqual([])
    expect(planned.tests).toMatchObject({ passed: 3, failed: 0, unmatched: [] })

    const wrong = document('Policy', 'no-payments', { effect: 'allow', actions: ['payments.*'] })
    const body = await applyBody([wrong, REFUNDS, LIMIT, tests])
    const refused = await api.refusal('applyPolicySet', { params, body })

    expect(refused).toMatchObject({
      code: 'tests_failed',
      tests: {
        passed: 2,
        failed: 1,
        cases: [
          { document: 'payments', name: 'no payment', passed: false, got: { decision: 'allow' } },
          {},
          {},
        ],
      },
    })
    expect((await api.ok('listPolicies')).data).toEqual([])
  })

  it('are refused where a property does not hold', async () => {
    const never = { for: { actions: ['payments.*'] }, never: 'allow' }
    const property = document('Property', 'no-payment', never)
    const narrow = document('Policy', 'no-payments', { effect: 'deny', actions: ['payments.x'] })
    const body = await applyBody([narrow, property])
    const refused = await api.refusal('applyPolicySet', { params, body })
    expect(refused).toMatchObject({
      code: 'property_violated',
      property: 'no-payment',
      result: 'violated',
    })
    const { agent_id, action } = refused['counterexample'] as typeof PAY
    expect(await decide({ agent_id, action })).toBe('allow')
    await apply([DENY, property])
    expect(await decide({ agent_id, action })).toBe('deny')
  })

  it('refuse documents that are wrong, and name the place', async () => {
    const refused = async (documents: object[]) => {
      const { code, errors } = await api.refusal('planPolicySet', { params, body: { documents } })
      expect(code).toBe('invalid_request')
      return errors?.[0]?.path
    }
    const policy = (spec: object) => [DENY, document('Policy', 'wrong', spec)]
    expect(await refused([])).toBe('documents')
    expect(await refused([DENY, DENY])).toBe('documents.1.name')
    const twice = document('SpendLimit', 'other', LIMIT.spec)
    expect(await refused([LIMIT, twice])).toBe('documents.1.name')
    expect(await refused(policy({ effect: 'deny', efect: 1 }))).toBe('documents.1.spec.efect')
    const condition = { effect: 'deny', condition: 'context.' }
    expect(await refused(policy(condition))).toBe('documents.1.spec.condition')
    expect(await refused([document('Nothing', 'x', {})])).toBe('documents.0.kind')
    // Trust policies are of a module that this server lacks.
    expect(await refused([document('TrustPolicy', 'x', { effect: 'deny' })])).toBe(
      'documents.0.kind',
    )
  })

  it('can be planned by a reader and applied by an administrator', async () => {
    const key = await api.remit.key(api.org.id, 'read')
    const { plan_digest } = await api.ok('planPolicySet', {
      params,
      body: { documents: [DENY] },
      key,
    })
    const body = { documents: [DENY], plan_digest }
    expect((await api.refusal('applyPolicySet', { params, body, key })).code).toBe('role_required')
    await api.ok('applyPolicySet', { params, body })
  })

  it('are planned with a warning for each limit that they would pass', async () => {
    const many = (count: number, kind: string, spec: (i: number) => object) =>
      Array.from({ length: count }, (_, i) => document(kind, `${kind}-${i}`, spec(i)))
    const broad = (count: number) => many(count, 'Policy', () => ({ effect: 'deny' }))
    const denials = (count: number) =>
      many(count, 'Permission', (i) => ({ agent_id: `a${i}.*`, effect: 'deny' }))
    const cases: [code: string, most: number, of: (count: number) => object[]][] = [
      ['too_many_broad_rules', 1_000, broad],
      ['too_many_pattern_denies', 1_000, denials],
      ['too_many_policies', 2, (count) => broad(count)],
    ]
    for (const [code, most, of] of cases) {
      if (code === 'too_many_policies')
        await setLimits(root.remit.writer, api.org.id, { policies: most })
      expect((await plan(of(most))).warnings).toEqual([])
      const { plan_digest, warnings } = await plan(of(most + 1))
      expect(warnings).toEqual([
        `${code}: ${most + 1} would count, and at most ${most} may; apply will refuse`,
      ])
      const body = { documents: of(most + 1), plan_digest }
      expect((await api.refusal('applyPolicySet', { params, body })).code).toBe(code)
    }
    expect((await api.ok('listPolicySets')).data).toEqual([])
    // A plan does not warn of a limit that was passed before.
    await apply(broad(2))
    await setLimits(root.remit.writer, api.org.id, { policies: 1 })
    expect((await plan(many(2, 'Policy', () => ({ effect: 'allow' })))).warnings).toEqual([])
  })

  it('leave nothing of a plan that a limit refuses', async () => {
    const revoked = document('Permission', 'revoked', { agent_id: 'payer' })
    await api.ok('grantPermission', { params: { id: 'revoked' }, body: { agent_id: 'payer' } })
    await api.ok('revokePermission', { params: { id: 'revoked' } })
    const size = (await entries()).length
    const body = await applyBody([DENY, revoked])
    const { code } = await api.refusal('applyPolicySet', { params, body })

    expect(code).toBe('permission_revoked')
    expect((await api.ok('listPolicies')).data).toEqual([])
    expect((await api.ok('listPolicySets')).data).toEqual([])
    expect(await entries()).toHaveLength(size + 1)
  })
})
