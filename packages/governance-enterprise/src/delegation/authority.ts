import type { Ask, Meter } from '@remit/core'
import { introduce } from '../rules/agent-attributes.ts'
import { agentState } from '../agents/state.ts'
import type { Roster } from '../agents/state.ts'
import { matchRule } from '../rules/rule.ts'
import type { Rule } from '../rules/rule.ts'
import { RuleIndex } from '../rules/rule-index.ts'
import { chainOf, whyDead } from './chain.ts'
import type { Chain } from './chain.ts'
import type { Permission } from './permission.ts'

/** A grant with its chain; as a rule it is its last link. */
export interface Grant extends Rule {
  readonly chain: Chain
}

/** The permissions and modes of an organization, compiled; never changed. */
export interface Rules {
  readonly denies: RuleIndex<Permission>
  readonly grants: RuleIndex<Grant>
  /** Agents that act on grants only. */
  readonly granted: ReadonlySet<string>
}

/** Everything that step 1 of a decision reads. */
export type Authority = Rules & Roster

/** `permissions` may leave out revoked ones: what was cut from them finds no parent. */
export function rulesOf(permissions: readonly Permission[], granted: ReadonlySet<string>): Rules {
  const byId = new Map(permissions.map((permission) => [permission.id, permission]))
  const denies = permissions.filter(({ effect, isRevoked }) => effect === 'deny' && !isRevoked)
  const grants = permissions
    .filter(({ effect }) => effect === 'allow')
    .map((permission): Grant => ({ ...permission, chain: chainOf(permission, byId) }))
    .filter(({ chain }) => chain.broken === null)
  return { denies: RuleIndex.of(denies), grants: RuleIndex.of(grants), granted }
}

/** What permissions say to a request, before anything else is asked. */
export type Standing =
  | { readonly says: 'nothing' }
  | { readonly says: 'suspended'; readonly reason: string }
  | { readonly says: 'removed' | 'not_registered' }
  | { readonly says: 'denied'; readonly by: Permission; readonly isError: boolean }
  | { readonly says: 'no_permission' }
  | { readonly says: 'granted'; readonly chain: Chain }

/**
 * The agent's own state, then denies, then grants; the first that has something to say. Conditions that take
 * longer than `meter` gives are errors, and the search for a grant ends.
 */
export function standingOf(ask: Ask, authority: Authority, meter: Meter): Standing {
  const { agent_id } = ask.request
  const state = agentState(agent_id, authority)
  if (state.state === 'suspended') return { says: 'suspended', reason: state.reason }
  if (state.state !== 'active') return { says: state.state }
  const denied = denialOf(ask, authority, meter)
  if (denied) return { says: 'denied', ...denied }
  const chain = liveChain(ask, authority, meter)
  if (chain) return { says: 'granted', chain }
  return authority.granted.has(agent_id) ? { says: 'no_permission' } : { says: 'nothing' }
}

interface Denial {
  readonly by: Permission
  readonly isError: boolean
}

/** A condition that ends in an error denies: nobody knows that it would not have. */
function denialOf(ask: Ask, { denies }: Authority, meter: Meter): Denial | null {
  for (const by of denies.candidates(ask.request.agent_id, ask.request.action).rules) {
    const match = matchRule(by, ask, meter)
    if (match !== false) return { by, isError: match === 'error' }
  }
  return null
}

// Asking the time costs as much as a chain.
const CHAINS_A_LOOK = 16

/** A chain that lives now, every link of which says yes to the request. */
function liveChain(ask: Ask, authority: Authority, meter: Meter): Chain | null {
  const { agent_id, action } = ask.request
  let looked = 0
  for (const { chain } of authority.grants.candidates(agent_id, action).rules) {
    if (authorizes(chain, ask, authority, meter)) return chain
    if (++looked % CHAINS_A_LOOK === 0 && meter.isOver()) return null
  }
  return null
}

/** A link that ends in an error says no. Delegators must not be kept from the same act themselves. */
function authorizes(chain: Chain, ask: Ask, authority: Authority, meter: Meter): boolean {
  // From the end: the last link is mostly the narrowest.
  for (const { link } of chain.links.toReversed()) {
    if (matchRule(link, ask, meter) !== true) return false
  }
  if (whyDead(chain, ask.now, authority)) return false
  const delegators = chain.links.slice(0, -1)
  return delegators.every(
    ({ agentId }) => !denialOf(asIf(agentId, ask, authority), authority, meter),
  )
}

/** The same request, had another agent made it. */
function asIf(agentId: string, ask: Ask, roster: Roster): Ask {
  const other = { ...ask, request: { ...ask.request, agent_id: agentId } }
  introduce([other], roster)
  return other
}
