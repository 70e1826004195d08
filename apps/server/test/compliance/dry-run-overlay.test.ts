import { createClock, runs, someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, register } from '../identity/support.ts'

const AGENTS = ['a', 'b', 'c']
const agent = fc.constantFrom(...AGENTS)
const terms = {
  actions: fc.constantFrom(['pay.send'], ['pay.*'], ['*']),
  condition: fc.constantFrom(null, null, 'has(context.amount) && context.amount > 3.0'),
}
const approvalRule = fc.record({
  id: fc.constantFrom('r1', 'r2', 'r3'),
  agents: fc.constantFrom(['a'], ['*']),
  enabled: fc.constantFrom(true, true, false),
  ...terms,
})
const grant = fc.record({
  id: fc.constantFrom('p1', 'p2', 'p3', 'p4'),
  effect: fc.constant('allow'),
  agent_id: agent,
  parent_id: fc.constantFrom(null, null, 'p1', 'p2'),
  can_delegate: fc.boolean(),
  max_depth: fc.constantFrom(undefined, 2),
  ...terms,
})
const denial = fc.record({
  id: fc.constantFrom('d1', 'd2'),
  effect: fc.constant('deny'),
  agent_id: fc.constantFrom('a', 'b', '*'),
  ...terms,
})
const limit = fc.record({ agent_id: agent, daily_usd: fc.constantFrom(0, 5, 12) })
const unique = <T>(arbitrary: fc.Arbitrary<T>, name: (one: T) => unknown, maxLength: number) =>
  fc.uniqueArray(arbitrary, { selector: name, maxLength })
const idOf = ({ id }: { id: string }) => id
const agentOf = ({ agent_id: id }: { agent_id: string }) => id

const objects = fc.record({
  approval_rules: unique(approvalRule, idOf, 2),
  permissions: unique(fc.oneof(grant, grant, denial), idOf, 4),
  spend_limits: unique(limit, agentOf, 2),
})
const world = fc.record({
  base: objects,
  set: objects,
  removes: fc.array(fc.constantFrom('r1', 'r2', 'p1', 'p2', 'd1', 'a', 'b'), { maxLength: 3 }),
  agent_modes: unique(
    fc.record({ agent_id: agent, mode: fc.constantFrom('open', 'granted') }),
    agentOf,
    2,
  ),
  unknown_agents: fc.constantFrom('allow', 'allow', 'deny'),
})
type World = typeof world extends fc.Arbitrary<infer T> ? T : never
type Objects = World['base']

const REQUESTS = AGENTS.flatMap((agent_id) =>
  ['pay.send', 'pay.get', 'mail.send'].flatMap((action) =>
    [{}, { amount: 2 }, { amount: 7 }].map((context) => ({ agent_id, action, context })),
  ),
)

/** Creates the objects; returns the code of the first refusal, or null. */
async function create(api: Api, { approval_rules, permissions, spend_limits }: Objects) {
  for (const { id, ...body } of approval_rules)
    await api.ok('setApprovalRule', { params: { id }, body })
  for (const { agent_id: id, ...body } of spend_limits)
    await api.ok('setSpendLimit', { params: { id }, body })
  for (const { id, ...body } of parentsFirst(permissions)) {
    const answer = await api.call('grantPermission', { params: { id }, body })
    if (!answer.ok) return ((await answer.json()) as { code: string }).code
  }
  return null
}

/** Each after its parent; where several are refused, the first of them says why. */
function parentsFirst(all: Objects['permissions']): Objects['permissions'] {
  const sorted = new Set<Objects['permissions'][number]>()
  const begun = new Set<string>()
  const take = (one: Objects['permissions'][number] | undefined): void => {
    if (!one || begun.has(one.id)) return
    begun.add(one.id)
    if ('parent_id' in one) take(all.find(({ id }) => id === one.parent_id))
    sorted.add(one)
  }
  for (const one of all) take(one)
  return [...sorted]
}

const pays = (id: 'p1' | 'p2', agent_id: string, parent_id: 'p1' | null) => ({
  id,
  effect: 'allow' as const,
  agent_id,
  parent_id,
  can_delegate: true,
  max_depth: 2 as const,
  actions: ['pay.send'] as const,
  condition: null,
})

/** Permissions derived from a removed one are revoked with it, and cannot be granted again. */
const REVOKED_CHILD: World = {
  base: {
    approval_rules: [],
    permissions: [{ ...pays('p2', 'c', 'p1'), max_depth: undefined }, pays('p1', 'a', null)],
    spend_limits: [],
  },
  set: { approval_rules: [], permissions: [pays('p2', 'a', null)], spend_limits: [] },
  removes: ['p1'],
  agent_modes: [],
  unknown_agents: 'allow',
}

describe.skipIf(!hasModules()).each(someDialects())('an overlay on %s', (dialect) => {
  let all: Api
  const seen = new Set<string>()
  beforeAll(async () => {
    all = await createEnterprise({ dialect, clock: createClock() })
  })
  afterAll(() => all.remit.close())

  const anew = async (base: Objects) => {
    const api = all.as(await all.remit.organization())
    await register(api, 'a')
    await create(api, base)
    return api
  }
  const decisions = async (api: Api, overlay?: object) => {
    const body = { requests: REQUESTS, ...(overlay && { overlay }) }
    const answer = await api.call('dryRunPolicies', { body })
    const { code, results } = (await answer.json()) as {
      code?: string
      results?: { decision: string; reason: string; matched: { id: string }[] }[]
    }
    return (
      code ??
      results?.map(({ decision, reason, matched }) => ({
        said: `${decision} ${reason}`,
        matched: matched.map(({ id }) => id),
      }))
    )
  }

  it('decides like an organization with its objects, or is refused like them', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (one) => {
        const [real, twin] = [await anew(one.base), await anew(one.base)]
        const { data } = await twin.ok('listApprovalRules', {})
        const { permissions } = await twin.ok('getDelegation', {})
        const exists = (names: readonly string[], set: readonly object[], key: string) =>
          [...new Set(one.removes)].filter(
            (name) => names.includes(name) && !set.some((input) => Object(input)[key] === name),
          )
        const limits = (await twin.ok('listSpendLimits', {})).data.map(agentOf)
        const remove = {
          approval_rules: exists(data.map(idOf), one.set.approval_rules, 'id'),
          permissions: exists(permissions.map(idOf), one.set.permissions, 'id'),
          spend_limits: exists(limits, one.set.spend_limits, 'agent_id'),
        }

        for (const id of remove.approval_rules)
          await twin.ok('removeApprovalRule', { params: { id } })
        // One may be gone with its parent.
        for (const id of remove.permissions) await twin.call('revokePermission', { params: { id } })
        for (const id of remove.spend_limits) await twin.ok('removeSpendLimit', { params: { id } })
        const refused = await create(twin, one.set)
        for (const { agent_id, mode } of one.agent_modes)
          await twin.ok('setAgentMode', { params: { agent_id }, body: { mode } })
        const settings = { unknown_agents: one.unknown_agents }
        // After the permissions, as in a policy set.
        if (refused === null) await twin.ok('changeOrganization', { body: { settings } })
        const tried = await decisions(real, {
          approval_rules: { set: one.set.approval_rules, remove: remove.approval_rules },
          permissions: { set: one.set.permissions, remove: remove.permissions },
          spend_limits: { set: one.set.spend_limits, remove: remove.spend_limits },
          agent_modes: { set: one.agent_modes },
          settings,
        })

        if (typeof tried === 'object') for (const { said } of tried) seen.add(said)
        else if (tried !== undefined) seen.add(tried)
        expect(tried).toEqual(refused ?? (await decisions(twin)))
      }),
      { numRuns: runs(dialect === 'sqlite' ? 160 : 80, 10), examples: [[REVOKED_CHILD]] },
    )
    expect(seen.size).toBeGreaterThan(3)
  }, 300_000)

  it('says of the approval that a requester gave itself whether it would count', async () => {
    const api = all.as(await all.remit.organization())
    const body = { agent_id: 'a', action: 'pay.send' }
    const rule = { prevent_self_approval: false }
    await api.ok('setApprovalRule', { params: { id: 'all' }, body: rule })
    const { request_id: requestID = '' } = await api.ok('authorize', { body })
    await api.ok('decideApproval', { params: { requestID }, body: { decision: 'approve' } })
    const tried = async (four_eyes: boolean) => {
      const overlay = { settings: { four_eyes } }
      const answer = await api.ok('dryRunPolicies', { body: { ...body, overlay } })
      return 'decision' in answer && answer.decision
    }

    expect([await tried(false), await tried(true)]).toEqual(['allow', 'needs_approval'])
  })

  it('names its rules with warnings, and its entry counts them', async () => {
    const api = all.as(await all.remit.organization())
    const overlay = {
      approval_rules: { set: [{ id: 'r', actions: ['Pay'] }] },
      permissions: { set: [{ id: 'p', agent_id: 'a' }] },
      agent_modes: { set: [{ agent_id: 'b', mode: 'granted' }] },
      settings: { unknown_agents: 'deny' },
    }

    const body = { agent_id: 'a', action: 'x', overlay }
    const answer = await api.ok('dryRunPolicies', { body })
    const { data } = await api.ok('listEntries', { query: { kind: 'policy.dry_run' } })

    expect(answer.overlay).toEqual([
      { id: 'approval_rules.r', warnings: [expect.stringContaining('uppercase letters')] },
      { id: 'permissions.p', warnings: [] },
    ])
    expect(data[0]?.data?.['overlay']).toMatchObject({
      objects: {
        approval_rules: { set: 1, removed: 0 },
        permissions: { set: 1, removed: 0 },
        agent_modes: { set: 1, removed: 0 },
        settings: { set: 1, removed: 0 },
      },
    })
  })

  it.each<[string, object, string]>([
    ['of an approval', { approval_rules: { set: [{ id: 'r', condition: 'x.y' }] } }, '.condition'],
    [
      'of a grant',
      { permissions: { set: [{ id: 'p', agent_id: 'a', condition: '1' }] } },
      '.condition',
    ],
    [
      'of a parent',
      { permissions: { set: [{ id: 'p', agent_id: 'a', parent_id: 'q' }] } },
      '.parent_id',
    ],
    ['of a twin', { approval_rules: { set: [{ id: 'r' }, { id: 'r' }] } }, 'set.1.id'],
    [
      'of a removed twin',
      { spend_limits: { set: [{ agent_id: 'a', daily_usd: 1 }], remove: ['a'] } },
      'set.0.agent_id',
    ],
    ['of an unknown rule', { approval_rules: { remove: ['r'] } }, 'remove.0'],
    ['of an unknown permission', { permissions: { remove: ['p'] } }, 'remove.0'],
    ['of an unknown limit', { spend_limits: { remove: ['a'] } }, 'remove.0'],
    ['of a limit without caps', { spend_limits: { set: [{ agent_id: 'a' }] } }, '.daily_usd'],
    ['of a pattern', { permissions: { set: [{ id: 'p', agent_id: 'a*' }] } }, '.agent_id'],
  ])('is refused by the place of its fault: %s', async (_, overlay, place) => {
    const body = { agent_id: 'a', action: 'x', overlay }
    const [part] = Object.keys(overlay)
    const { errors } = await all.refusal('dryRunPolicies', { body })

    expect(errors?.[0]?.path).toMatch(new RegExp(`^overlay\\.${part}\\..*${place}$`))
  })
})
