import { matchesPattern } from '@remit/contract/patterns'
import { runs } from '@remit/testing/pure'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aPermission, aRoster } from '../../test/support/permissions.ts'
import { anAsk, NOW } from '../../test/support/rules.ts'
import { rulesOf, evaluatePermissions } from './authority.ts'
import type { PermissionResult } from './authority.ts'
import { listOf, toPermission } from './permission.ts'
import type { PermissionRow } from '../tables/delegation.ts'

const IDS = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7']
const AGENTS = ['a', 'b', 'c', 'd']
const EARLIER = '2026-11-20T07:59:59.999Z'
const LATER = '2026-11-20T08:00:00.001Z'

/** The first value mostly, so that many permissions are good for something. */
const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )

const patterns = (...some: string[]) =>
  fc.subarray(some, { minLength: 1 }).map((list): readonly string[] => list)

/** Any row that could stand in the table, also ones that no endpoint would write. */
const row = (id: string): fc.Arbitrary<PermissionRow> =>
  fc
    .record({
      agent_id: fc.constantFrom(...AGENTS),
      effect: mostly<PermissionRow['effect']>('allow', 'allow', 'deny'),
      actions: fc.oneof(
        { weight: 3, arbitrary: fc.constant(['*']) },
        patterns('x.*', 'x.y', 'z', '*y'),
      ),
      resources: fc.oneof({ weight: 3, arbitrary: fc.constant(['*']) }, patterns('r:1', 'r:*')),
      condition: mostly(null, 'context.n <= 1', 'context.n > 1', 'context.no'),
      parent_id: fc.oneof(fc.constant(null), fc.constantFrom(...IDS)),
      granted_by: fc.constantFrom(...AGENTS),
      can_delegate: mostly(1, 0),
      max_depth: mostly(8, 1, 2),
      not_before: mostly(null, EARLIER, LATER),
      expires_at: mostly(null, EARLIER, LATER),
      revoked_at: mostly(null, EARLIER),
      pattern: fc.constantFrom(null, '*', 'a*'),
    })
    .map(({ pattern, ...given }) =>
      aPermission({
        id,
        ...given,
        ...(given.effect === 'deny' && pattern !== null && { agent_id: pattern }),
      }),
    )

interface World {
  readonly rows: readonly PermissionRow[]
  readonly suspended: readonly string[]
}

/** Most rows name the holder of their parent as granter, so that there are chains to talk about. */
const world: fc.Arbitrary<World> = fc.record({
  rows: fc
    .tuple(fc.tuple(...IDS.map(row)), fc.array(mostly(true, false), { minLength: 8, maxLength: 8 }))
    .map(([rows, honest]) =>
      rows.map((one, i) => {
        const parent = rows.find(({ id }) => id === one.parent_id)
        return honest[i] && parent ? { ...one, granted_by_id: parent.agent_id } : one
      }),
    ),
  suspended: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constantFrom(...AGENTS).map((id) => [id]) },
  ),
})

const request = fc.record({
  agent_id: fc.constantFrom(...AGENTS),
  action: fc.constantFrom('x.y', 'x.z', 'z'),
  resource: fc.constantFrom('', 'r:1', 'r:1', 's:1'),
  context: mostly<{ n?: number }>({ n: 1 }, { n: 2 }, {}),
})
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never

/** Agents act on grants only as soon as they ever had one. */
const grantedIn = ({ rows }: World): Set<string> =>
  new Set(rows.filter(({ effect }) => effect === 'allow').map(({ agent_id }) => agent_id))

function standing(
  { rows, suspended }: World,
  ask: Request,
  granted = new Set(AGENTS),
): PermissionResult {
  const roster = aRoster(suspended)
  const authority = { ...rulesOf(rows.map(toPermission), granted), ...roster }
  return evaluatePermissions(anAsk(ask), authority, { isOver: () => false })
}

const isAllowed = ({ says }: PermissionResult): boolean => says === 'granted' || says === 'nothing'

describe('permissions, whatever is stored', () => {
  it('equal a direct evaluation of the rules', () => {
    fc.assert(
      fc.property(world, request, (given, ask) => {
        expect(standing(given, ask).says).toBe(plainly(given, ask))
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('taking away or adding a deny never turns a denial into an allow', () => {
    const index = fc.nat({ max: IDS.length - 1 })
    const taken: fc.Arbitrary<(before: World) => World> = fc.oneof(
      fc.tuple(index, narrowing).map(([at, narrow]) => (before: World) => ({
        ...before,
        rows: before.rows.map((one, i) => (i === at && one.effect === 'allow' ? narrow(one) : one)),
      })),
      row('p8').map((one) => (before: World) => ({
        ...before,
        rows: [...before.rows, { ...one, effect: 'deny' as const }],
      })),
      fc.constantFrom(...AGENTS).map((id) => (before: World) => ({
        ...before,
        suspended: [...before.suspended, id],
      })),
    )
    fc.assert(
      fc.property(world, request, taken, (before, ask, take) => {
        const granted = grantedIn(before)
        fc.pre(!isAllowed(standing(before, ask, granted)))
        expect(isAllowed(standing(take(before), ask, granted))).toBe(false)
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('a child never gains over those from whom it has its permission', () => {
    fc.assert(
      fc.property(world, request, (given, ask) => {
        const said = standing(given, ask)
        const links = said.says === 'granted' ? said.chain.links : []
        fc.pre(links.length > 1)
        const delegators = links.slice(0, -1).map(({ agentId }) => agentId)
        const theirs = delegators.map((agent_id) => standing(given, { ...ask, agent_id }).says)
        expect(theirs).toEqual(delegators.map(() => 'granted'))
      }),
      { numRuns: runs(200), maxSkipsPerRun: 1_000 },
    )
  })
})

const narrowing: fc.Arbitrary<(before: PermissionRow) => PermissionRow> = fc.constantFrom(
  (one) => ({ ...one, revoked_at: EARLIER }),
  (one) => ({ ...one, expires_at: EARLIER }),
  (one) => ({ ...one, not_before: LATER }),
  (one) => ({ ...one, can_delegate: 0 }),
  (one) => ({ ...one, max_depth: Math.max(0, one.max_depth - 1) }),
  (one) => ({ ...one, actions: JSON.stringify(listOf(one.actions).slice(0, 1)) }),
  (one) => ({ ...one, resources: JSON.stringify(listOf(one.resources).slice(0, 1)) }),
  (one) => ({ ...one, condition: 'false' }),
)

/** The rules once more, slowly: no index, no compiled chains, no shared code but the patterns. */
function plainly({ rows, suspended }: World, ask: Request): PermissionResult['says'] {
  const holds = ({ condition }: PermissionRow): boolean | 'error' => {
    if (condition === null) return true
    const { n } = ask.context
    if (n === undefined || condition === 'context.no') return 'error'
    return condition === 'context.n <= 1' ? n <= 1 : n > 1
  }
  const says = (one: PermissionRow): boolean | 'error' => {
    if (one.not_before !== null && NOW < Date.parse(one.not_before)) return false
    if (one.expires_at !== null && NOW >= Date.parse(one.expires_at)) return false
    const resources = listOf(one.resources)
    const isAbout =
      listOf(one.actions).some((pattern) => matchesPattern(pattern, ask.action)) &&
      (ask.resource === ''
        ? resources.includes('*')
        : resources.some((pattern) => matchesPattern(pattern, ask.resource)))
    return isAbout && holds(one)
  }
  const isDenied = (agent: string) =>
    rows.some(
      (one) =>
        one.effect === 'deny' &&
        one.revoked_at === null &&
        matchesPattern(one.agent_id, agent) &&
        says(one) !== false,
    )
  const carries = (one: PermissionRow, below: number, seen: readonly string[]): boolean => {
    if (one.effect !== 'allow' || one.revoked_at !== null || says(one) !== true) return false
    if (suspended.includes(one.agent_id) || isDenied(one.agent_id)) return false
    if (seen.includes(one.agent_id) || below > 8) return false
    if (below > 0 && (one.can_delegate !== 1 || below > one.max_depth)) return false
    if (one.parent_id === null) return true
    const parent = rows.find(({ id }) => id === one.parent_id)
    if (!parent || one.granted_by_type !== 'agent') return false
    if (one.granted_by_id !== parent.agent_id) return false
    return carries(parent, below + 1, [...seen, one.agent_id])
  }
  if (suspended.includes(ask.agent_id)) return 'suspended'
  if (isDenied(ask.agent_id)) return 'denied'
  const own = rows.filter(({ agent_id }) => agent_id === ask.agent_id)
  return own.some((one) => carries(one, 0, [])) ? 'granted' : 'no_permission'
}
