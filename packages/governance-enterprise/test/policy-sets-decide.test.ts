import { DIALECTS, runs, someDialects } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const name = fc.constantFrom('a', 'b', 'c')
const pattern = fc.constantFrom('a', 'b', 'c', '*', 'a*')
const patterns = fc.array(pattern, { minLength: 1, maxLength: 2 })
const condition = fc.constantFrom(
  null,
  'context.n > 1.0',
  "context.t == 'x'",
  'amount_usd > 10.0',
  'agent_id == "a"',
)
const who = { agents: patterns, actions: patterns, condition }
const documentOf = <T extends object>(kind: string, spec: fc.Arbitrary<T>) =>
  fc.array(spec, { maxLength: 3 }).map((specs) =>
    specs.map((one, i) => ({
      apiVersion: 'remit.dev/v1',
      kind,
      name: `${kind}-${i}`,
      spec: one,
    })),
  )
const mode = fc.constantFrom('enforce', 'observe')
const documents = fc
  .tuple(
    documentOf('Policy', fc.record({ effect: fc.constantFrom('allow', 'deny'), mode, ...who })),
    documentOf('ApprovalRule', fc.record({ mode, ...who })),
    documentOf(
      'Permission',
      fc.record({
        agent_id: name,
        effect: fc.constantFrom('allow', 'deny'),
        actions: patterns,
        condition,
      }),
    ),
    documentOf('SpendLimit', fc.record({ agent_id: name, daily_usd: fc.constantFrom(5, 50) })),
    documentOf('Settings', fc.record({ default_effect: fc.constantFrom('allow', 'deny') })).map(
      (some) => some.slice(0, 1),
    ),
    documentOf(
      'AgentMode',
      fc.record({ agent_id: name, mode: fc.constantFrom('open', 'granted') }),
    ),
  )
  .map((kinds) =>
    kinds
      .flat()
      .filter(
        (one, at, all) =>
          !('agent_id' in one.spec && (one.kind === 'SpendLimit' || one.kind === 'AgentMode')) ||
          all.findIndex((other) => other.kind === one.kind && sameAgent(other.spec, one.spec)) ===
            at,
      ),
  )
const sameAgent = (a: object, b: object): boolean =>
  'agent_id' in a && 'agent_id' in b && a.agent_id === b.agent_id

const requests = fc.array(
  fc.record({
    agent_id: name,
    action: name,
    context: fc.record(
      {
        n: fc.constantFrom(1, 2),
        t: fc.constantFrom('x', 'y'),
        amount_usd: fc.constantFrom(1, 20),
      },
      { requiredKeys: [] },
    ),
  }),
  { minLength: 8, maxLength: 8 },
)

describe.each(DIALECTS)('tests of policy sets on %s', (dialect) => {
  let root: Api
  beforeAll(async () => {
    root = await createApi({ dialect })
  })
  afterAll(() => root.remit.close())

  it('decide as the organization does once the set is applied', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(documents, documents, requests, async (first, second, asked) => {
        const api = root.as(await root.remit.organization())
        const params = { id: 'main' }
        const cases = asked.map((request, i) => ({
          name: `${i}`,
          request,
          expect: { decision: 'allow' },
        }))
        const tests = { apiVersion: 'remit.dev/v1', kind: 'Tests', name: 'all', spec: { cases } }
        const plan = async (docs: object[]) => {
          const body = { documents: docs, allow_empty: true }
          return [body, await api.ok('planPolicySet', { params, body })] as const
        }
        const apply = async (docs: object[]) => {
          const [body, { plan_digest }] = await plan(docs)
          await api.ok('applyPolicySet', { params, body: { ...body, plan_digest } })
        }
        // A revoked permission keeps its id, so that only the second set has permissions.
        await apply(first.filter(({ kind }) => kind !== 'Permission'))
        const [, planned] = await plan([...second, tests])
        await apply(second)

        // A preview decides as a live request does.
        const live = await api.remit.decider.preview(api.org.id, 'enterprise', asked)
        for (const { name: i, got } of planned.tests.cases) {
          const { decision, reason, matched } = live[Number(i)]!
          const rules = matched.flatMap(({ kind, id }) => (kind === 'spend_limit' ? [] : [id]))
          expect([asked[Number(i)], got]).toEqual([
            asked[Number(i)],
            { decision, reason, matched: rules },
          ])
        }
      }),
      { numRuns: runs(40, 3) },
    )
  })
})

describe.each(someDialects())('tests and properties of policy sets on %s', (dialect) => {
  let root: Api
  let api: Api
  beforeAll(async () => {
    root = await createApi({ dialect })
  })
  afterAll(() => root.remit.close())
  beforeEach(async () => {
    api = root.as(await root.remit.organization())
  })

  const params = { id: 'main' }
  const document = (kind: string, title: string, spec: object) => ({
    apiVersion: 'remit.dev/v1',
    kind,
    name: title,
    spec,
  })
  const deny = (title: string, spec: object) =>
    document('Policy', title, { effect: 'deny', ...spec })
  const tests = (...cases: object[]) =>
    document('Tests', 'all', { cases: cases.map((one, i) => ({ name: `${i}`, ...one })) })
  const request = (action: string) => ({ agent_id: 'a', action })
  const plan = (...docs: object[]) => api.ok('planPolicySet', { params, body: { documents: docs } })
  const failing = async (...docs: object[]) =>
    (await plan(...docs)).tests.cases.flatMap((one) => (one.passed ? [] : [one.name]))

  it('name the rules of the plan by their documents, whatever other rules are called', async () => {
    await api.call('replacePolicy', {
      params: { policyID: 'overlay.0' },
      body: { effect: 'deny', actions: ['x'], condition: 'context.to.startsWith("a")' },
    })
    const wanted = { decision: 'deny', matched: ['mine'] }
    const planned = await plan(
      deny('mine', { actions: ['y'], condition: 'context.to.endsWith("a")' }),
      tests(...['x', 'y'].map((action) => ({ request: request(action), expect: wanted }))),
      document('Property', 'x', { for: { actions: ['x', 'y'] }, never: 'allow' }),
      document('Property', 'none', {
        for: { actions: ['x', 'y'], when: 'context.to == "z"' },
        never: 'deny',
      }),
    )

    expect(planned.tests.cases.map(({ name: i, passed, got }) => [i, passed, got.matched])).toEqual(
      [
        ['0', false, ['overlay.0']],
        ['1', true, ['mine']],
      ],
    )
    expect(planned.properties[1]?.because).toEqual(
      expect.arrayContaining([
        'the condition of policy overlay.0 calls `startsWith`',
        'the condition of policy mine calls `endsWith`',
      ]),
    )
  })

  it('list the rules that no case matches, of those that decide', async () => {
    const rule = (kind: string, spec: object) =>
      document(kind, `${kind}-${Object.values(spec).join()}`, {
        actions: ['never'],
        ...(kind === 'Policy' && { effect: 'deny' }),
        ...spec,
      })
    const specs = [{ enabled: true }, { enabled: false }, { mode: 'observe' }]
    const { tests: found } = await plan(
      ...specs.flatMap((spec) => [rule('Policy', spec), rule('ApprovalRule', spec)]),
      tests({ request: request('x'), expect: { decision: 'allow' } }),
    )

    expect(found.unmatched).toEqual([
      { kind: 'Policy', name: 'Policy-true' },
      { kind: 'ApprovalRule', name: 'ApprovalRule-true' },
    ])
  })

  it('begin with nothing spent', async () => {
    const cap = { kind: 'SpendLimit', name: 'a', spec: { agent_id: 'a', daily_usd: 10 } }
    const budget = { kind: 'Budget', name: 'b', spec: { unit: 'usd', window: 'day', limit: 9 } }
    const cases = [8, 11].map((amount_usd) => ({
      name: `${amount_usd}`,
      request: { agent_id: 'a', action: 'a', context: { amount_usd } },
      expect: { decision: amount_usd > 9 ? 'deny' : 'allow' },
    }))
    const checks = { kind: 'Tests', name: 't', spec: { cases } }
    const apiVersion = 'remit.dev/v1'
    const call = {
      params: { id: 'spent' },
      body: { documents: [cap, budget, checks].map((one) => ({ apiVersion, ...one })) },
    }
    const { plan_digest } = await api.ok('planPolicySet', call)
    await api.ok('applyPolicySet', { ...call, body: { ...call.body, plan_digest } })
    await api.ok('authorize', { body: cases[0]!.request })
    expect((await api.ok('authorize', { body: cases[0]!.request })).decision).toBe('deny')

    const planned = await api.ok('planPolicySet', call)
    expect(planned.tests).toMatchObject({ passed: 2, failed: 0 })
  })

  it('pass only with the expected reason, and at the time of the case', async () => {
    const night = { expires_at: '2030-01-01T00:00:00Z' }
    const caseAt = (reason: string, at?: string) => ({
      request: request('x'),
      expect: { decision: 'deny', reason },
      ...(at !== undefined && { at }),
    })

    expect(
      await failing(
        document('Settings', 'settings', { default_effect: 'deny' }),
        deny('night', night),
        tests(
          caseAt('policy_deny', '2029-12-31T23:59:59Z'),
          caseAt('default_deny', '2030-01-01T00:00:00Z'),
          caseAt('policy_deny', '2030-01-01T00:00:00Z'),
        ),
      ),
    ).toEqual(['2'])
  })

  it('list at most 200 cases, the failed ones first, and count all', async () => {
    const cases = Array.from({ length: 210 }, (_, i) => ({
      request: request('x'),
      expect: { decision: i >= 205 ? 'allow' : 'deny' },
    }))

    const { tests: found } = await plan(deny('x', { actions: ['x'] }), tests(...cases))

    expect([found.passed, found.failed, found.cases.length]).toEqual([205, 5, 200])
    const first = found.cases.slice(0, 6).map(({ name: i }) => i)
    expect(first).toEqual(['205', '206', '207', '208', '209', '0'])
  })

  it('refuse a plan whose property is searched where a proof is required', async () => {
    const sampled = deny('mine', { condition: '!context.to.startsWith("a")', actions: ['x'] })
    const property = (require: string) =>
      document('Property', 'no-x', {
        for: { actions: ['x'], when: '!has(context.to)' },
        never: 'allow',
        require,
      })
    const apply = async (require: string) => {
      const all = [sampled, property(require)]
      const { plan_digest, properties } = await plan(...all)
      expect(properties).toMatchObject([{ result: 'searched', require }])
      return api.call('applyPolicySet', { params, body: { documents: all, plan_digest } })
    }

    const refused = await apply('proved')
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      {
        code: 'property_violated',
        property: 'no-x',
        result: 'searched',
        counterexample: null,
        because: [expect.stringContaining('policy mine calls `startsWith`')],
      },
    ])
    expect((await api.ok('listPolicies')).data).toEqual([])
    expect((await apply('searched')).status).toBe(200)
  })

  it('are not applied where the answer would come after the deadline', async () => {
    const all = [deny('mine', { actions: ['x'] })]
    const { plan_digest } = await plan(...all)
    const body = { documents: all, plan_digest }
    const { writer } = root.remit
    const [now, change] = [performance.now.bind(performance), writer.change.bind(writer)]
    let laterMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now() + laterMs)
    vi.spyOn(writer, 'change').mockImplementation((orgId, origin, run) =>
      change(orgId, origin, (scope, caller) => {
        laterMs = 56_000
        return run(scope, caller)
      }),
    )
    const refused = await api.refusal('applyPolicySet', { params, body })
    vi.restoreAllMocks()

    expect(refused).toMatchObject({ status: 503, code: 'deadline_exceeded' })
    expect(refused['detail']).toContain('nothing was changed')
    expect((await api.ok('listPolicies')).data).toEqual([])
    expect((await api.call('applyPolicySet', { params, body })).status).toBe(200)
  })

  it('and hooks do not decide the requests that only the server makes', async () => {
    for (const one of [
      { agent_id: 'remit.rules', action: 'a' },
      { agent_id: 'a', action: 'remit.rules.apply' },
    ]) {
      expect(await api.refusal('authorize', { body: one })).toMatchObject({ status: 400 })
      const all = [tests({ request: one, expect: { decision: 'allow' } })]
      const body = { documents: all, allow_empty: true }
      expect(await api.refusal('planPolicySet', { params, body })).toMatchObject({ status: 400 })
      const { decider } = root.remit
      expect(() => decider.preview(api.org.id, 'enterprise', [one])).toThrow('reserved')
    }
    const hook = {
      hook_event_name: 'PreToolUse',
      session_id: 's',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_use_id: 't',
    }
    const query = { agent_id: 'remit.rules' }
    expect(await api.refusal('claudeCodeHook', { body: hook, query })).toMatchObject({
      status: 400,
    })
    expect((await api.ok('listEntries', { query: { agent_id: 'remit.rules' } })).data).toEqual([])
  })
})
