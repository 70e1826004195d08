import type { EffectivePermissions } from '@remit/contract'
import { createClock, runs, someDialects } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const AGENTS = ['a', 'b', 'c', 'd']
const ACTIONS = ['x.y', 'x.z', 'z']
const CONTEXTS = [{ n: 1 }, { n: 2 }]

const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(usual) },
    { weight: 2, arbitrary: fc.constantFrom(...others) },
  )
const sometime = (from: number, to: number) =>
  fc.constantFrom(...[from, to].map((day) => `2026-11-${day}T00:00:00Z`), null, null, null)

const permission = fc.record({
  agent_id: fc.constantFrom(...AGENTS),
  actions: mostly(['*'], ['x.*'], ['x.y', 'z'], ['*y'], ['x*', 'z']),
  resources: mostly(['*'], ['r:*'], ['r:1']),
  condition: mostly(null, 'context.n <= 1.0', 'context.n > 1.0'),
  not_before: sometime(19, 21),
  expires_at: sometime(22, 23),
  can_delegate: mostly(true, false),
})

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      permission,
      parent: fc.option(fc.nat({ max: 9 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('deny' as const),
      permission,
      pattern: fc.constantFrom(null, '*', 'a*'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      permission,
      which: fc.nat({ max: 9 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('revoke' as const), which: fc.nat({ max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('open' as const), agent: fc.constantFrom(...AGENTS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('suspend' as const),
      agent: fc.constantFrom(...AGENTS),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

describe.each(someDialects())('the effective permissions of an agent, on %s', (dialect) => {
  const clock = createClock('2026-11-20T08:00:00.000Z')
  let all: Api
  beforeAll(async () => {
    all = await createApi({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  it('equals the next decisions, after any sequence of changes', async () => {
    const seen = { allow: 0, deny: 0, needs_approval: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
        clock.set('2026-11-20T08:00:00.000Z')
        const api = all.as(await all.remit.organization())
        const parents = new Map<string, string | null>()
        for (const one of steps) await perform(api, one, parents)
        // Windows open and close between the two looks.
        for (const time of ['2026-11-20T08:00:00.000Z', '2026-11-22T08:00:00.000Z']) {
          clock.set(time)
          const faults = await Promise.all(AGENTS.map((agent) => faultsOf(api, agent, time, seen)))
          expect(faults.flat()).toEqual([])
        }
      }),
      { numRuns: runs(dialect === 'sqlite' ? 25 : 10) },
    )
    expect(Math.min(seen.allow, seen.deny)).toBeGreaterThan(100)
  })
})

/** Requests that are decided otherwise than the view of the agent says. */
async function faultsOf(
  api: Api,
  agent_id: string,
  time: string,
  seen: Record<string, number>,
): Promise<object[]> {
  const view = await api.ok('getEffectivePermissions', { query: { agent_id } })
  const isPartial = view.grants.some(({ partial }) => partial)
  const faults = requests.map(async (ask) => {
    const { decision } = await api.ok('authorize', { body: { agent_id, ...ask } })
    seen[decision] = (seen[decision] ?? 0) + 1
    const listed = isListed(view, ask, time)
    const isRight = decision === 'allow' ? listed || isPartial : !listed
    return isRight ? [] : [{ ask, decision, view }]
  })
  return (await Promise.all(faults)).flat()
}

interface Ask {
  readonly action: string
  readonly resource: string
  readonly context: { readonly n: number }
}
const requests: Ask[] = ACTIONS.flatMap((action) =>
  CONTEXTS.flatMap((context) => ['', 'r:1'].map((resource) => ({ action, resource, context }))),
)

/** Performs a step; one that is refused changes nothing. */
async function perform(api: Api, one: Step, parents: Map<string, string | null>): Promise<void> {
  const known = [...parents.keys()]
  const id = `p${parents.size}`
  const post = async (at: string, body: object) => {
    const response = await api.call('grantPermission', { params: { id: at }, body })
    expect([200, 201, 409, 422]).toContain(response.status)
    return response.status === 201
  }
  const which = 'which' in one ? known[one.which % Math.max(1, known.length)] : undefined
  if (one.do === 'grant') {
    const parent_id =
      one.parent === null ? null : (known[one.parent % Math.max(1, known.length)] ?? null)
    const depth = parent_id === null && one.permission.can_delegate ? { max_depth: 3 } : {}
    if (await post(id, { ...one.permission, ...depth, parent_id })) parents.set(id, parent_id)
  } else if (one.do === 'deny') {
    const { can_delegate: _, ...rest } = one.permission
    const agent_id = one.pattern ?? rest.agent_id
    if (await post(id, { ...rest, agent_id, effect: 'deny' })) parents.set(id, null)
  } else if (one.do === 'open') {
    await api.ok('setAgentMode', { params: { agent_id: one.agent }, body: { mode: 'open' } })
  } else if (one.do === 'suspend') {
    await api.remit.ports.agentSwitch?.suspend(api.org.id, one.agent, 'test')
  } else if (which !== undefined) {
    if (one.do === 'revoke') await api.call('revokePermission', { params: { id: which } })
    else await post(which, { ...one.permission, max_depth: 3, parent_id: parents.get(which) })
  }
}

type Rule = EffectivePermissions['denies'][number]

/** Returns whether the view lists a request as allowed, read as documented. */
function isListed(view: EffectivePermissions, ask: Ask, time: string): boolean {
  if (view.suspended || view.denies.some((deny) => isAbout(deny, ask, time))) return false
  if (view.mode === 'open') return true
  return view.grants.some(
    (grant) =>
      fits(grant.actions, ask.action) &&
      fitsResource(grant.resources, ask.resource) &&
      grant.conditions.every((condition) => holds(condition, ask)) &&
      !grant.denies.some((deny) => isAbout(deny, ask, time)),
  )
}

const isAbout = (rule: Rule, ask: Ask, time: string): boolean =>
  (rule.not_before === null || rule.not_before <= time) &&
  (rule.expires_at === null || time < rule.expires_at) &&
  fits(rule.actions, ask.action) &&
  fitsResource(rule.resources, ask.resource) &&
  (rule.condition === null || holds(rule.condition, ask))

const fits = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) =>
    new RegExp(`^${pattern.replace('.', '\\.').replace('*', '.*')}$`).test(text),
  )

const fitsResource = (patterns: readonly string[], resource: string): boolean =>
  resource === '' ? patterns.includes('*') : fits(patterns, resource)

const holds = (condition: string, { context: { n } }: Ask): boolean =>
  condition === 'context.n <= 1.0' ? n <= 1 : n > 1
