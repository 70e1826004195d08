import { createKey, OPERATOR, setLimits, updateSettings } from '@remit/core/orgs'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const document = (kind: string, name: string, spec: object) => ({
  apiVersion: 'remit.dev/v1',
  kind,
  name,
  spec,
})
const allow = (actions: string[]) =>
  document('Policy', 'allowed', { effect: 'allow', actions, description: 'What agents may do' })
const ALLOW = allow(['files.read', 'files.write'])
const WIDER = allow(['files.*'])
const PAY = { agent_id: 'payer', action: 'files.delete' }
const params = { id: 'main' }

type Role = 'admin' | 'approver'

describe.each(someDialects())('the setting rule_changes on %s', (dialect) => {
  let root: Api
  let api: Api
  let approver: string
  beforeAll(async () => {
    root = await createApi({ dialect })
  })
  afterAll(() => root.remit.close())
  beforeEach(async () => {
    api = root.as(await root.remit.organization())
    approver = await hostKey('approver')
  })

  /** A key that the operator of the server creates. */
  const hostKey = async (role: Role, person?: string) => {
    const options = { role, ...(person !== undefined && { person }) }
    return (await createKey(api.remit.writer, api.org.id, options)).secret
  }
  const childKey = async (role: Role, key = api.org.key) => {
    const { secret } = await api.ok('createKey', { body: { role }, key })
    return secret ?? ''
  }
  const set = (rule_changes: string) =>
    api.ok('changeOrganization', { body: { settings: { rule_changes } } })
  const apply = async (
    documents: object[],
    key = api.org.key,
    more: object = {},
    headers: Record<string, string> = {},
  ) => {
    const { plan_digest } = await api.ok('planPolicySet', { params, body: { documents } })
    const body = { documents, plan_digest, ...more }
    const response = await api.call('applyPolicySet', { params, body, key, headers })
    const answer = (await response.json()) as {
      revision?: number
      code?: string
      detail?: string
      approval?: { id: string; status: string; context: Record<string, unknown> }
    }
    return { status: response.status, location: response.headers.get('location'), ...answer }
  }
  const vote = (id: string, key: string, decision = 'approve') =>
    api.call('decideApproval', { params: { requestID: id }, body: { decision }, key })
  const decide = async () => (await api.ok('authorize', { body: PAY })).decision
  const kinds = async () =>
    (await api.ok('listEntries', { query: { order: 'asc', limit: 1000 } })).data.map(
      ({ kind }) => kind,
    )

  it('holds a plan that weakens, until somebody else has approved it', async () => {
    await apply([ALLOW, document('Settings', 'settings', { default_effect: 'deny' })])
    await set('approve_weakening')
    const documents = [WIDER, document('Settings', 'settings', { default_effect: 'deny' })]
    const planned = await api.ok('planPolicySet', { params, body: { documents } })
    expect(planned.approval).toEqual({
      required: true,
      why: 'rule_changes is approve_weakening; 1 change, of which 1 may allow more than before',
    })

    const headers = { 'Idempotency-Key': 'weaken' }
    const first = await apply(documents, undefined, {}, headers)

    expect(first).toMatchObject({
      status: 202,
      location: `/v1/approvals/${first.approval?.id}`,
      approval: {
        status: 'pending',
        agent_id: 'remit.rules',
        action: 'remit.rules.apply',
        resource: 'policy_set:main',
        context: {
          plan_digest: planned.plan_digest,
          base_digest: planned.base_digest,
          weakens: 1,
          changes: [
            {
              kind: 'Policy',
              name: 'allowed',
              change: 'replace',
              weakens: true,
              before: { actions: ['files.read', 'files.write'] },
              after: { actions: ['files.*'] },
            },
          ],
        },
      },
    })
    expect(await decide()).toBe('deny')
    const again = await apply(documents)
    expect(again).toMatchObject({ status: 202, approval: { id: first.approval?.id } })
    expect((await vote(first.approval?.id ?? '', approver)).status).toBe(200)
    expect(await decide()).toBe('deny')
    // The answer that it waits is not the answer of the request.
    const applied = await apply(documents, undefined, {}, headers)
    expect(applied).toMatchObject({ status: 200, revision: 2 })
    expect(await decide()).toBe('allow')
    expect((await kinds()).filter((kind) => /approval|policy/.test(kind))).toEqual([
      'policy.dry_run',
      'policy.created',
      'policy_set.applied',
      'policy.dry_run',
      'policy.dry_run',
      'approval.requested',
      'policy.dry_run',
      'approval.decided',
      'policy.dry_run',
      'approval.consumed',
      'policy.updated',
      'policy_set.applied',
    ])
    const query = { kind: 'policy_set.applied', limit: 1 }
    const { data } = await api.ok('listEntries', { query })
    expect(data[0]?.data).toMatchObject({ approval_id: first.approval?.id })
  })

  it('asks again for other documents, and for a state that has moved', async () => {
    await apply([ALLOW])
    await set('approve_weakening')
    const { approval } = await apply([WIDER])
    await vote(approval?.id ?? '', approver)
    const other = await apply([{ ...WIDER, spec: { ...WIDER.spec, description: 'Other' } }])
    expect(other).toMatchObject({ status: 202 })
    expect(other.approval?.id).not.toBe(approval?.id)
    // A plan that does not weaken moves the set.
    expect(await apply([allow(['files.read'])])).toMatchObject({ status: 200 })
    const moved = await apply([WIDER])
    expect(moved.status).toBe(202)
    expect(moved.approval?.id).not.toBe(approval?.id)
  })

  it('counts no vote of the requester, of keys around its key, and of its person', async () => {
    await apply([ALLOW])
    await set('approve_weakening')
    const ada = await hostKey('admin', 'ada@example.org')
    const keys = {
      'the key itself': ada,
      'another key of the person': await hostKey('approver', 'Ada@Example.org'),
      'a key that it created': await childKey('approver', ada),
      'a key of such a key': await childKey('approver', await childKey('admin', ada)),
      'a key that another key of the person created': await childKey(
        'approver',
        await hostKey('admin', 'ADA@example.org'),
      ),
    }
    const { approval } = await apply([WIDER], ada)
    for (const [who, key] of Object.entries(keys)) {
      const { status } = await vote(approval?.id ?? '', key)
      expect(`${who}: ${status}`).toBe(`${who}: 403`)
      const named = await api.call('decideApproval', {
        params: { requestID: approval?.id ?? '' },
        body: { decision: 'approve', approver: 'bob@example.org' },
        key,
      })
      expect(named.status).toBeGreaterThanOrEqual(400)
    }
    // The creator of the requesting key has it in its hands.
    const bot = await childKey('admin')
    const ofBot = await apply([WIDER], bot, { change_reason: 'By the pipeline' })
    expect((await vote(ofBot.approval?.id ?? '', api.org.key)).status).toBe(403)
    const sibling = await childKey('approver')
    expect((await vote(ofBot.approval?.id ?? '', sibling)).status).toBe(403)
    expect((await vote(approval?.id ?? '', approver)).status).toBe(200)
    expect(await apply([WIDER], ada)).toMatchObject({ status: 200 })
  })

  it('takes the approval rules of the organization in addition', async () => {
    const two = { actions: ['remit.rules.*'], required_approvals: 2 }
    await api.ok('setApprovalRule', { params: { id: 'two' }, body: two })
    await apply([ALLOW])
    await set('approve_all')
    const { approval } = await apply([allow(['files.read'])])
    await vote(approval?.id ?? '', approver)
    expect(await apply([allow(['files.read'])])).toMatchObject({ status: 202 })
    await vote(approval?.id ?? '', await hostKey('approver'))
    expect(await apply([allow(['files.read'])])).toMatchObject({ status: 200 })
  })

  it('asks nobody to approve what would be refused, and leaves nothing of the attempt', async () => {
    const permission = (name: string, spec: object) => document('Permission', name, spec)
    const grant = { agent_id: 'payer', can_delegate: true, max_depth: 1 }
    await api.ok('grantPermission', { params: { id: 'gone' }, body: { agent_id: 'payer' } })
    await api.ok('revokePermission', { params: { id: 'gone' } })
    await apply([ALLOW, permission('parent', grant)])
    const other = { params: { id: 'other' } }
    const documents = [permission('child', { agent_id: 'b', parent_id: 'parent' })]
    const { plan_digest } = await api.ok('planPolicySet', { ...other, body: { documents } })
    await api.ok('applyPolicySet', { ...other, body: { documents, plan_digest } })
    await api.ok('lockPolicySet', { ...other, body: { locked: true } })
    await setLimits(api.remit.writer, api.org.id, { policies: 1 })
    await set('approve_all')
    const size = async () => (await kinds()).filter((kind) => kind !== 'policy.dry_run').length
    const before = await size()

    const parent = permission('parent', grant)
    const second = document('Policy', 'second', { effect: 'deny', actions: ['a'] })
    expect(await apply([ALLOW, parent, second])).toMatchObject({ code: 'too_many_policies' })
    const revoked = permission('gone', { agent_id: 'payer' })
    expect(await apply([ALLOW, parent, revoked])).toMatchObject({ code: 'permission_revoked' })
    // The permission of the locked set would end with its parent.
    expect(await apply([ALLOW])).toMatchObject({ code: 'managed_by_policy_set' })
    expect((await api.ok('listApprovals')).data).toEqual([])
    expect(await size()).toBe(before)

    expect(await apply([WIDER, parent])).toMatchObject({ status: 202 })
    expect((await api.ok('getPolicy', { params: { policyID: 'allowed' } })).actions).toEqual([
      'files.read',
      'files.write',
    ])
    expect((await kinds()).slice(-2)).toEqual(['policy.dry_run', 'approval.requested'])
  })

  it('holds an allow that is hidden in a rename', async () => {
    await apply([ALLOW])
    await set('approve_weakening')
    const { status, approval } = await apply([{ ...WIDER, name: 'renamed' }])
    expect(status).toBe(202)
    expect(approval?.context['changes']).toMatchObject([
      { name: 'renamed', change: 'create', weakens: true },
      { name: 'allowed', change: 'delete', weakens: false },
    ])
  })

  it('shows what each change is about, and refuses what it cannot show', async () => {
    const limit = (name: string, daily_usd: number) =>
      document('SpendLimit', name, { agent_id: 'payer', daily_usd })
    await apply([limit('a', 10)])
    await set('approve_weakening')
    const { approval } = await apply([limit('test-agent', 1000)])
    expect(approval?.context['changes']).toEqual([
      {
        kind: 'SpendLimit',
        name: 'test-agent',
        object_id: 'payer',
        change: 'replace',
        weakens: true,
        before: { daily_usd: 10 },
        after: { daily_usd: 1000 },
      },
    ])
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        document('Policy', `${i}`.padEnd(128, '-'), {
          effect: 'allow',
          description: 'é'.repeat(500),
        }),
      )
    // The limit is deleted, which weakens too.
    const most = await apply(many(199))
    expect(most.status).toBe(202)
    expect(most.approval?.context['changes']).toHaveLength(200)
    expect(JSON.stringify(most.approval?.context['changes'])).toContain('"after"')
    expect(await apply(many(200))).toMatchObject({ status: 409, code: 'change_requires_approval' })
  })

  it('refuses a plan after its rejection', async () => {
    await apply([ALLOW])
    await set('approve_weakening')
    const { approval } = await apply([WIDER])
    await vote(approval?.id ?? '', approver, 'reject')
    expect(await apply([WIDER])).toMatchObject({ status: 409, code: 'change_requires_approval' })
  })

  const policyID = 'p'
  const pool = (limit: number) => ({ unit: 'usd', window: 'day', limit })
  const DIRECT: [name: string, call: Parameters<Api['call']>, weakens: boolean, stop: boolean][] = [
    ['a new allow', ['createPolicy', { body: { effect: 'allow' } }], true, false],
    ['a new deny', ['createPolicy', { body: { effect: 'deny' } }], false, true],
    [
      'a deny that is observed',
      ['createPolicy', { body: { effect: 'deny', mode: 'observe' } }],
      false,
      false,
    ],
    [
      'a narrower deny',
      ['replacePolicy', { params: { policyID }, body: { effect: 'deny', actions: ['a'] } }],
      true,
      false,
    ],
    [
      'an allow in place of a deny',
      ['replacePolicy', { params: { policyID }, body: { effect: 'allow' } }],
      true,
      false,
    ],
    ['a deleted deny', ['deletePolicy', { params: { policyID } }], true, false],
    [
      'a lower threshold of votes',
      ['setApprovalRule', { params: { id: 'r' }, body: { required_approvals: 1 } }],
      true,
      false,
    ],
    [
      'a new approval rule',
      ['setApprovalRule', { params: { id: 'new' }, body: { actions: ['b'] } }],
      false,
      false,
    ],
    ['a removed approval rule', ['removeApprovalRule', { params: { id: 'r' } }], true, false],
    [
      'a lower cap',
      ['setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 10 } }],
      false,
      true,
    ],
    [
      'a cap of another agent',
      ['setSpendLimit', { params: { id: 'other' }, body: { daily_usd: 10 } }],
      false,
      true,
    ],
    [
      'a higher cap',
      ['setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 101 } }],
      true,
      false,
    ],
    ['a removed cap', ['removeSpendLimit', { params: { id: 'payer' } }], true, false],
    ['a higher budget', ['setBudget', { params: { id: 'pool' }, body: pool(101) }], true, false],
    ['a lower budget', ['setBudget', { params: { id: 'pool' }, body: pool(50) }], false, false],
    ['a new budget', ['setBudget', { params: { id: 'more' }, body: pool(1) }], false, false],
    ['a removed budget', ['removeBudget', { params: { id: 'pool' } }], true, false],
    [
      'a grant',
      ['grantPermission', { params: { id: 'g' }, body: { agent_id: 'payer' } }],
      true,
      false,
    ],
    [
      'a denial',
      ['grantPermission', { params: { id: 'd' }, body: { agent_id: 'payer', effect: 'deny' } }],
      false,
      true,
    ],
    ['a revoked denial', ['revokePermission', { params: { id: 'denied' } }], true, false],
    ['a revoked grant', ['revokePermission', { params: { id: 'granted' } }], false, false],
    [
      'an open agent',
      ['setAgentMode', { params: { agent_id: 'payer' }, body: { mode: 'open' } }],
      true,
      false,
    ],
    [
      'a laxer default',
      ['changeOrganization', { body: { settings: { default_effect: 'allow' } } }],
      true,
      false,
    ],
    [
      'a stricter setting',
      ['changeOrganization', { body: { settings: { unknown_agents: 'deny' } } }],
      false,
      false,
    ],
    [
      'a setting that is no rule',
      ['changeOrganization', { body: { settings: { retention_days: 500 } } }],
      false,
      true,
    ],
  ]

  /** Changes of objects that are in no set. */
  const OUTSIDE: ReadonlySet<string> = new Set([
    'a new approval rule',
    'a deny that is observed',
    'a stricter setting',
    'a new budget',
  ])

  describe.each([false, true])('with a locked set: %s', (locked) => {
    beforeEach(async () => {
      await apply([
        document('Policy', policyID, { effect: 'deny' }),
        document('ApprovalRule', 'r', { required_approvals: 2, actions: ['a'] }),
        document('SpendLimit', 'payer', { agent_id: 'payer', daily_usd: 100 }),
        document('Budget', 'pool', pool(100)),
        document('Permission', 'denied', { agent_id: 'x', effect: 'deny' }),
        document('Permission', 'granted', { agent_id: 'payer' }),
        document('Settings', 'settings', { default_effect: 'deny' }),
      ])
      if (locked) await api.ok('lockPolicySet', { params, body: { locked } })
    })

    it.each(['approve_weakening', 'approve_all'])('%s refuses other endpoints', async (mode) => {
      await set(mode)
      for (const [name, [endpoint, options], weakens, isStop] of DIRECT) {
        const headers = endpoint === 'replacePolicy' ? { 'If-Match': '*' } : undefined
        const response = await api.call(endpoint, { ...options, ...(headers && { headers }) })
        const body = (await response.json().catch(() => ({}))) as { code?: string }
        const isRefused = mode === 'approve_all' ? !isStop : weakens
        // Objects of the locked set, unless the change is a stop.
        const isLocked = locked && !isStop && !isRefused && !OUTSIDE.has(name)
        const expected = isLocked ? 'managed_by_policy_set' : 'change_requires_approval'
        expect(`${name}: ${body.code ?? 'done'}`).toBe(
          `${name}: ${isRefused || isLocked ? expected : 'done'}`,
        )
      }
    })
  })

  it('refuses to remove a set with its objects, and keeps them without an approval', async () => {
    await apply([document('Policy', policyID, { effect: 'deny' })])
    await set('approve_weakening')
    const remove = (objects: string) =>
      api.call('removePolicySet', { params, query: { objects } }).then(({ status }) => status)
    expect(await remove('delete')).toBe(409)
    expect(await remove('keep')).toBe(204)
  })

  it('is made laxer by the operator of the server only', async () => {
    await set('approve_all')
    for (const rule_changes of ['approve_weakening', 'direct', null])
      expect(
        await api.refusal('changeOrganization', { body: { settings: { rule_changes } } }),
      ).toMatchObject({ status: 409, code: 'change_requires_approval' })
    await updateSettings(api.remit.writer, api.org.id, OPERATOR, { rule_changes: 'direct' })
    await api.ok('createPolicy', { body: { effect: 'allow' } })
  })

  it('needs two that can decide, without a common creator', async () => {
    const alone = root.as(await root.remit.organization())
    const ask = () =>
      alone.call('changeOrganization', { body: { settings: { rule_changes: 'approve_all' } } })
    const missing = async () => {
      const response = await ask()
      expect(response.status).toBe(409)
      expect(await response.json()).toMatchObject({ code: 'approver_missing' })
    }
    await missing()
    const first = await alone.ok('createKey', { body: { role: 'admin' } })
    await missing()
    await alone.ok('createKey', { body: { role: 'read' } })
    await missing()
    await alone.ok('createKey', { body: { role: 'approver' }, key: first.secret ?? '' })
    await missing()
    await alone.ok('createKey', { body: { role: 'approver' } })
    await missing()
    await createKey(alone.remit.writer, alone.org.id, { role: 'approver' })
    expect((await ask()).status).toBe(200)
  })

  it('is for the plan with policy sets', async () => {
    const team = root.as(await root.remit.organization('team'))
    await createKey(team.remit.writer, team.org.id, { role: 'approver' })
    expect(
      await team.refusal('changeOrganization', {
        body: { settings: { rule_changes: 'approve_all' } },
      }),
    ).toMatchObject({ status: 403, code: 'plan_required' })
  })

  it('keeps its agent and its actions for itself', async () => {
    for (const body of [
      { agent_id: 'remit.rules', action: 'a' },
      { agent_id: 'a', action: 'remit.rules.apply' },
    ]) {
      expect(await api.refusal('authorize', { body })).toMatchObject({ status: 400 })
      const evaluation = {
        subject: { type: 'agent', id: body.agent_id },
        action: { name: body.action },
        resource: { type: 'a', id: 'b' },
      }
      expect(await api.refusal('accessEvaluation', { body: evaluation })).toMatchObject({
        status: 400,
      })
    }
  })
})
