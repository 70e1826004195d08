import type { PropertyResult } from '@remit/contract'
import { isCompleteRun, runs } from '@remit/testing'
import fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { storedRule } from '../approvals/rule.ts'
import { ApprovalRuleInput, PermissionInput, PolicyInput, PropertySpec } from '@remit/contract'
import { grantedTerms } from '../delegation/grant.ts'
import { toRow } from '../policies/policy.ts'
import type { StoredRules } from './rules.ts'
import { RuleStages } from './rules.ts'
import { Search, searchJob } from './search-job.ts'

const NOW = Date.parse('2026-11-20T08:00:00.000Z')
const END = NOW + 60_000

/** A condition as a tree, which the oracle evaluates by itself. */
type Test =
  | { is: 'has' | 'flag' | 'starts'; path: string }
  | { is: 'cmp'; path: string; op: string; value: string | number }
  | { is: 'in'; path: string; values: (string | number)[] }
  | { is: '!'; a: Test }
  | { is: '&&' | '||'; a: Test; b: Test }

const atom: fc.Arbitrary<Test> = fc.oneof(
  fc.record({
    is: fc.constant('has' as const),
    path: fc.constantFrom('context.n', 'context.f', 'context.m', 'context.m.k', 'amount_usd'),
  }),
  fc.record({ is: fc.constant('flag' as const), path: fc.constant('context.f') }),
  fc.record({
    is: fc.constant('cmp' as const),
    path: fc.constantFrom('context.n', 'context.n', 'context.m.k'),
    op: fc.constantFrom('==', '!=', '<', '<=', '>', '>='),
    value: fc.constantFrom(1, 3),
  }),
  fc.record({
    is: fc.constant('cmp' as const),
    path: fc.constant('amount_usd'),
    op: fc.constantFrom('==', '!=', '<', '<=', '>', '>='),
    value: fc.constant(100),
  }),
  fc.record({
    is: fc.constant('cmp' as const),
    path: fc.constantFrom('context.n', 'context.m.k', 'action', 'agent_id'),
    op: fc.constantFrom('==', '!='),
    value: fc.constantFrom('x', 'pay.send', 'a'),
  }),
  fc.record({
    is: fc.constant('in' as const),
    path: fc.constantFrom('context.n', 'context.m.k', 'action'),
    values: fc.constantFrom<(string | number)[]>(['x', 'pay.get'], ['a', 'x']),
  }),
)
const test: fc.Arbitrary<Test> = fc.letrec<{ test: Test }>((tie) => ({
  test: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.record({ is: fc.constant('!' as const), a: tie('test') }),
    fc.record({
      is: fc.constantFrom('&&' as const, '||' as const),
      a: tie('test'),
      b: tie('test'),
    }),
  ),
})).test
const sampled: fc.Arbitrary<Test> = fc.record({
  is: fc.constant('starts' as const),
  path: fc.constant('context.n'),
})
const condition = fc.option(
  fc.oneof({ weight: 12, arbitrary: test }, { weight: 1, arbitrary: sampled }),
  { nil: null, freq: 3 },
)

const agents = fc.constantFrom(['a'], ['*'], ['b', 'a.*'], ['*'])
const actions = fc.constantFrom(['pay.send'], ['pay.*'], ['*'], ['mail.*', 'pay.get'])
const anyActions = fc.oneof(
  { weight: 9, arbitrary: actions },
  { weight: 1, arbitrary: fc.constant(['*.send']) },
)
const resources = fc.constantFrom(['*'], ['*'], ['*'], ['doc:*'], ['doc:1'])
const expires_at = fc.constantFrom(null, null, null, new Date(END).toISOString())
const target = { actions: anyActions, resources, condition }
const world = fc.record({
  policies: fc.array(
    fc.record({ effect: fc.constantFrom('allow', 'deny'), agents, expires_at, ...target }),
    { maxLength: 4 },
  ),
  approvals: fc.array(fc.record({ agents, ...target }), { maxLength: 2 }),
  denies: fc.array(fc.record({ agent: fc.constantFrom('a', 'b', 'a.*', 'boss'), ...target }), {
    maxLength: 2,
  }),
  grants: fc.array(
    fc.record({ agent: fc.constantFrom('a', 'a.x'), expires_at, under: fc.boolean(), ...target }),
    { maxLength: 3 },
  ),
  granted: fc.subarray(['a', 'b', 'a.x']),
  byDefault: fc.constantFrom('allow' as const, 'deny' as const),
  scope: fc.record({ agents, actions, resources, when: fc.option(test, { nil: null, freq: 2 }) }),
  never: fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const),
})
type World = typeof world extends fc.Arbitrary<infer T> ? T : never

const between: Test = {
  is: '&&',
  a: { is: 'cmp', path: 'context.n', op: '>', value: 1 },
  b: { is: 'cmp', path: 'context.n', op: '<', value: 3 },
}
/** Rules that keep their property but for some requests, if any. */
const guarded = fc
  .record({
    one: world,
    but: fc.oneof(fc.constant(null), fc.constant(between), test),
    by: fc.constantFrom('deny', 'approval'),
    expires_at,
  })
  .map(({ one, but, by, expires_at: end }): World => {
    const { when, ...scope } = one.scope
    const kept: Test | null = but && { is: '!', a: but }
    const both: Test | null = when && kept ? { is: '&&', a: when, b: kept } : (kept ?? when)
    const rule = { ...scope, condition: both }
    return by === 'deny'
      ? { ...one, policies: [{ ...rule, effect: 'deny', expires_at: end }], never: 'allow' }
      : { ...one, approvals: [rule], never: 'allow' }
  })
/** Agents that act on what `boss` delegates, as far as it is not denied to `boss`. */
const delegated = fc.record({ one: world, test }).map(({ one, test: condition_ }): World => {
  const all = { actions: ['*'], resources: ['*'] } as const
  return {
    ...one,
    denies: [{ ...all, agent: 'boss', condition: condition_ }],
    grants: [{ ...all, agent: 'a', expires_at: null, under: true, condition: null }],
    granted: ['a'],
    policies: [],
    approvals: [],
    scope: { ...one.scope, agents: ['a'] },
    byDefault: 'allow',
  }
})
const anyWorld = fc.oneof(
  { weight: 2, arbitrary: world },
  { weight: 2, arbitrary: guarded },
  { weight: 1, arbitrary: delegated },
)

interface Req {
  agent: string
  action: string
  resource: string | null
  context: Record<string, unknown>
  at: number
}

const textOf = (one: Test): string => {
  switch (one.is) {
    case 'has':
      return `has(${one.path})`
    case 'flag':
      return one.path
    case 'starts':
      return `${one.path}.startsWith("x")`
    case 'cmp':
      return `${one.path} ${one.op} ${literal(one.value)}`
    case 'in':
      return `${one.path} in [${one.values.map((value) => JSON.stringify(value)).join(', ')}]`
    case '!':
      return `!(${textOf(one.a)})`
    default:
      return `(${textOf(one.a)}) ${one.is} (${textOf(one.b)})`
  }
}
const literal = (value: string | number) =>
  typeof value === 'string' ? JSON.stringify(value) : `${value}.0`
const conditionOf = (one: Test | null) => (one === null ? null : textOf(one))

const ERROR = Symbol('error')
const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function valueOf(path: string, { agent, action, context }: Req): unknown {
  if (path === 'action') return action
  if (path === 'agent_id') return agent
  if (path === 'amount_usd') {
    const { amount_usd: amount } = context
    return typeof amount === 'number' && amount >= 0 && amount <= 1e9 ? amount : ERROR
  }
  let value: unknown = context
  for (const name of path.split('.').slice(1)) {
    if (!isMap(value) || value[name] === undefined) return ERROR
    value = value[name]
  }
  return value
}

/** The three values of a condition; nothing of the product computes them. */
function holds(one: Test, req: Req): boolean | typeof ERROR {
  switch (one.is) {
    case 'has': {
      if (one.path === 'amount_usd') {
        if (req.context['amount_usd'] === undefined) return false
        return valueOf(one.path, req) === ERROR ? ERROR : true
      }
      const [last = '', ...outer] = one.path.split('.').toReversed()
      const map = outer.length === 1 ? req.context : valueOf(outer.toReversed().join('.'), req)
      return isMap(map) ? map[last] !== undefined : ERROR
    }
    case 'flag': {
      const value = valueOf(one.path, req)
      return typeof value === 'boolean' ? value : ERROR
    }
    case 'starts': {
      const value = valueOf(one.path, req)
      return typeof value === 'string' ? value.startsWith('x') : ERROR
    }
    case 'cmp': {
      const value = valueOf(one.path, req)
      if (value === ERROR) return ERROR
      if (one.op === '==' || one.op === '!=') return (value === one.value) === (one.op === '==')
      if (typeof value !== 'number') return ERROR
      const than = Number(one.value)
      if (one.op === '<') return value < than
      if (one.op === '<=') return value <= than
      return one.op === '>' ? value > than : value >= than
    }
    case 'in': {
      const value = valueOf(one.path, req)
      return value === ERROR ? ERROR : one.values.includes(value as string)
    }
    case '!': {
      const value = holds(one.a, req)
      return value === ERROR ? ERROR : !value
    }
    default: {
      const settles = one.is === '||'
      const [a, b] = [holds(one.a, req), holds(one.b, req)]
      if (a === settles || b === settles) return settles
      return a === ERROR || b === ERROR ? ERROR : !settles
    }
  }
}

const fits = (patterns: readonly string[], name: string | null) =>
  patterns.some((pattern) =>
    name === null
      ? pattern === '*'
      : pattern === '*.send'
        ? name.endsWith('.send')
        : pattern.endsWith('*')
          ? name.startsWith(pattern.slice(0, -1))
          : name === pattern,
  )

interface Target {
  actions: readonly string[]
  resources: readonly string[]
  condition: Test | null
  expires_at?: string | null
}

function matches(agentPatterns: readonly string[], rule: Target, req: Req) {
  if (rule.expires_at && req.at >= Date.parse(rule.expires_at)) return false
  if (!fits(agentPatterns, req.agent) || !fits(rule.actions, req.action)) return false
  if (!fits(rule.resources, req.resource)) return false
  return rule.condition === null ? true : resultOf(rule.condition, req)
}

type Result = ReturnType<typeof holds>
const results = new WeakMap<object, Map<Test, Result>>()

/** The result of a condition; one that reads no names is computed once for a context. */
function resultOf(one: Test, req: Req): Result {
  if (readsNames(one)) return holds(one, req)
  const known = results.get(req.context) ?? new Map<Test, Result>()
  results.set(req.context, known)
  const result = known.get(one) ?? holds(one, req)
  known.set(one, result)
  return result
}

const withNames = new WeakMap<Test, boolean>()
const readsNames = (one: Test): boolean => {
  const known = withNames.get(one) ?? /action|agent_id/.test(textOf(one))
  withNames.set(one, known)
  return known
}

function decision(one: World, req: Req): 'allow' | 'deny' | 'needs_approval' {
  const isDenied = (agent: string) =>
    one.denies.some((rule) => matches([rule.agent], rule, { ...req, agent }) !== false)
  if (isDenied(req.agent)) return 'deny'
  // The parent of those `under` another permission is `root`, of the agent `boss`.
  const grant = one.grants.some(
    (rule) => matches([rule.agent], rule, req) === true && !(rule.under && isDenied('boss')),
  )
  if (!grant && one.granted.includes(req.agent)) return 'deny'
  const said = one.policies.map((rule) => ({ rule, is: matches(rule.agents, rule, req) }))
  if (said.some(({ rule, is }) => rule.effect === 'deny' && is !== false)) return 'deny'
  const isAllowed = said.some(({ rule, is }) => rule.effect === 'allow' && is === true)
  if (!isAllowed && one.byDefault === 'deny') return 'deny'
  return one.approvals.some((rule) => matches(rule.agents, rule, req) !== false)
    ? 'needs_approval'
    : 'allow'
}

const isMeant = ({ scope }: World, req: Req) =>
  fits(scope.agents, req.agent) &&
  fits(scope.actions, req.action) &&
  fits(scope.resources, req.resource) &&
  (scope.when === null || resultOf(scope.when, req) === true)

const ABSENT = undefined
const VALUES = {
  n: [ABSENT, 0, 1, 2, 3, 4, 'x', 'xy', 'q', 'pay.get', true, []],
  f: [ABSENT, true, false, 'q'],
  m: [ABSENT, 'q', {}, { k: 1 }, { k: 2 }, { k: 3 }, { k: 'x' }, { k: 'a' }, { k: 'q' }],
  amount_usd: [ABSENT, 0, 100, 200, 'q'],
}

/** Contexts with the members that occur in some condition. */
function contextsOf(one: World): Record<string, unknown>[] {
  const text = JSON.stringify(one)
  let contexts: Record<string, unknown>[] = [{}]
  for (const [name, values] of Object.entries(VALUES)) {
    if (!text.includes(name === 'amount_usd' ? name : `context.${name}`)) continue
    contexts = contexts.flatMap((context) =>
      values.map((value) => (value === ABSENT ? context : { ...context, [name]: value })),
    )
  }
  return contexts
}

/** Decides every request of a domain that is not made from the rules. */
function counterexample(one: World): Req | null {
  const contexts = contextsOf(one)
  const times = JSON.stringify(one).includes(new Date(END).toISOString()) ? [NOW, END] : [NOW]
  for (const agent of ['a', 'b', 'a.x', 'a.q', 'q'])
    for (const action of ['pay.send', 'pay.get', 'pay.q', 'mail.q', 'q', 'a', 'x'])
      for (const resource of [null, 'doc:1', 'doc:2', 'q'])
        for (const at of times) {
          const { scope } = one
          const names = { agent, action, resource, at }
          if (!fits(scope.agents, agent) || !fits(scope.actions, action)) continue
          if (!fits(scope.resources, resource)) continue
          for (const context of contexts) {
            const req = { ...names, context }
            if (isMeant(one, req) && decision(one, req) === one.never) return req
          }
        }
  return null
}

const MADE = { org_id: 'org', created_at: '', created_by: '', updated_at: '', revision: 1 }

function storedRules(one: World): StoredRules {
  const grant = (id: string, input: object) => ({
    ...MADE,
    ...grantedTerms(id, PermissionInput.parse(input), null, { type: 'key', id: '' }),
  })
  const root = grant('root', { agent_id: 'boss', can_delegate: true, max_depth: 2 })
  return {
    policies: one.policies.map(({ condition: test_, ...rule }, i) =>
      toRow(PolicyInput.parse({ ...rule, condition: conditionOf(test_) }), {
        ...MADE,
        id: `pol_${i}`,
      }),
    ),
    approvalRules: one.approvals.map(({ condition: test_, ...rule }, i) => ({
      ...MADE,
      ...storedRule(ApprovalRuleInput.parse({ ...rule, condition: conditionOf(test_) })),
      id: `rule_${i}`,
    })),
    permissions: [
      root,
      ...one.denies.map(({ agent, condition: test_, ...rule }, i) =>
        grant(`no_${i}`, {
          ...rule,
          agent_id: agent,
          effect: 'deny',
          condition: conditionOf(test_),
        }),
      ),
      ...one.grants.map(({ agent, under, condition: test_, ...rule }, i) => ({
        ...grant(`yes_${i}`, { ...rule, agent_id: agent, condition: conditionOf(test_) }),
        ...(under && { parent_id: 'root', granted_by_type: 'agent', granted_by_id: 'boss' }),
      })),
    ] as StoredRules['permissions'],
    granted: one.granted,
    agents: [],
    defaultEffect: one.byDefault,
  }
}

const specOf = ({ scope: { when, ...names }, never }: World) =>
  PropertySpec.parse({ for: { ...names, ...(when && { when: textOf(when) }) }, never })

/** Returns whether the search can only sample a rule. */
const isSampled = ({ actions: patterns, condition: one }: Target): boolean =>
  patterns.includes('*.send') || (one !== null && textOf(one).includes('startsWith'))

/** What the search says against the truth; null if nothing. */
function faultOf(one: World, found: PropertyResult): string | null {
  const truth = counterexample(one)
  const rules = [...one.policies, ...one.approvals, ...one.denies, ...one.grants]
  if (found.counterexample) {
    const { agent_id: agent, resource, at, ...rest } = found.counterexample
    const req = { ...rest, agent, resource: resource as string | null, at: Date.parse(at) }
    return isMeant(one, req) && decision(one, req) === one.never ? null : 'no counterexample'
  }
  if (found.result === 'proved') return truth && `false proof: ${JSON.stringify(truth)}`
  if (!rules.some(isSampled)) return 'nothing is sampled'
  return found.because.some((why) => /startsWith|\*\.send/.test(why)) ? null : 'no reason is given'
}

it('a search agrees with an oracle that decides every request of a domain by itself', () => {
  const counts = { violated: 0, proved: 0, searched: 0 }
  fc.assert(
    fc.property(anyWorld, (one) => {
      const stages = new RuleStages(storedRules(one), { add: [], remove: [] })
      const property = { name: 'p', spec: specOf(one) }
      const found = new Search('org', stages, property, NOW, Infinity).result()
      counts[found.result]++

      expect(faultOf(one, found)).toBeNull()
    }),
    { numRuns: runs(500) },
  )
  // Few runs may have none of one kind by chance.
  const least = isCompleteRun ? 20 : 0
  expect(Object.values(counts).filter((count) => count < least)).toEqual([])
}, 300_000)

const cmp = (path: string, op: string, value: string | number): Test => ({
  is: 'cmp',
  path,
  op,
  value,
})
const all = { agents: ['*'], actions: ['*'], resources: ['*'] } as const
const everything = { ...all, expires_at: null }
/** All is denied, and other rules make hundreds of requests differ. */
const DENIED: World = {
  policies: [
    { ...everything, effect: 'deny', condition: null },
    { ...everything, effect: 'allow', condition: cmp('context.n', '>', 1) },
    { ...everything, effect: 'allow', condition: { is: 'flag', path: 'context.f' } },
    { ...everything, effect: 'allow', condition: cmp('amount_usd', '>', 100) },
  ],
  approvals: [{ ...all, condition: cmp('context.m.k', '==', 'x') }],
  denies: [],
  grants: [],
  granted: [],
  byDefault: 'allow',
  scope: { ...all, when: null },
  never: 'allow',
}
const OUT_OF_TIME = 'the time for the search is over'

afterEach(() => vi.restoreAllMocks())

/** Every look at the clock is a millisecond after the one before. */
function slowClock(): { ms: number } {
  const clock = { ms: 0 }
  vi.spyOn(performance, 'now').mockImplementation(() => clock.ms++)
  return clock
}

it('a search that is out of time is no proof, wherever the time ends', () => {
  const stages = new RuleStages(storedRules(DENIED), { add: [], remove: [] })
  const property = { name: 'p', spec: specOf(DENIED) }
  const clock = slowClock()
  const within = (ms: number) => {
    clock.ms = 0
    return new Search('org', stages, property, NOW, ms).result()
  }
  expect(within(Infinity)).toMatchObject({ result: 'proved', because: [] })
  const needed = clock.ms
  expect(needed).toBeGreaterThan(10)

  const early = Array.from({ length: needed - 1 }, (_, ms) => within(ms))
  expect(early.map(({ result, because }) => [result, because.includes(OUT_OF_TIME)])).toEqual(
    early.map(() => ['searched', true]),
  )
  expect(within(needed)).toMatchObject({ result: 'proved' })
})

it('the properties of a call share its time', () => {
  const found: PropertyResult[] = []
  const heavy = { ...specOf(DENIED), max_cases: 1_000_000 }
  const names = ['a', 'b', 'c', 'd']
  const rules = storedRules({
    ...DENIED,
    policies: Array.from({ length: 12 }, (_, i) => ({
      ...everything,
      effect: i === 0 ? ('deny' as const) : ('allow' as const),
      condition: i === 0 ? null : cmp(`context.n${i}`, '>', i),
    })),
  })
  const input = { orgId: 'org', rules, overlay: { add: [], remove: [] }, added: [], now: NOW }
  const properties = names.map((name) => ({ name, spec: heavy }))
  slowClock()

  searchJob.run({ ...input, properties, eachMs: 75, allMs: 200 }, (one) => found.push(one))

  expect(found.map(({ name }) => name)).toEqual(names)
  for (const { result, because, cases } of found) {
    expect([result, because.includes(OUT_OF_TIME)]).toEqual(['searched', true])
    expect(cases).toBeGreaterThan(30 * 64)
  }
})

it('a counterexample has only what its decision needs, and the shortest names', () => {
  const ticket = cmp('context.n', '==', 'x')
  const one: World = {
    ...DENIED,
    policies: [
      {
        ...everything,
        agents: ['invoices-of-finance'],
        actions: ['payments.international.transfer'],
        resources: ['account:1234567890'],
        effect: 'allow',
        condition: ticket,
      } as never,
      {
        ...everything,
        effect: 'allow',
        condition: { is: '&&', a: ticket, b: cmp('amount_usd', '>', 100) },
      },
      { ...everything, effect: 'allow', condition: ticket },
      { ...everything, effect: 'deny', condition: cmp('context.n', '!=', 'x') },
    ],
    approvals: [],
  }
  const stages = new RuleStages(storedRules(one), { add: [], remove: [] })

  const found = new Search('org', stages, { name: 'p', spec: specOf(one) }, NOW, Infinity).result()

  expect(found.counterexample).toEqual({
    agent_id: 'x',
    action: 'x',
    resource: null,
    context: { n: 'x' },
    at: new Date(NOW).toISOString(),
  })
})
