import { DECISION_MS } from '@remit/core/decision'
import type { Ask, Meter, StageVerdict } from '@remit/core/decision'
import { MAX_DELEGATION_DEPTH } from '@remit/contract/values'
import type { AgentRules, Roster } from '../agents/agents.ts'
import { matchRule, RuleIndex } from '../rules/rule-index.ts'
import type { Rule } from '../rules/rule-index.ts'
import type { CompiledPermission } from './permission.ts'

/** The state of an agent with regard to acting at all. */
export type AgentAdmission =
  | { readonly state: 'active' }
  | { readonly state: 'suspended'; readonly reason: string }
  | { readonly state: 'removed' }
  | { readonly state: 'not_registered' }

const ACTIVE: AgentAdmission = { state: 'active' }

/** For registered agents the registry decides. */
export function agentAdmission(agentId: string, roster: Roster): AgentAdmission {
  const agent = roster.registry.get(agentId)
  if (agent?.status === 'active') return ACTIVE
  if (agent?.status === 'removed') return { state: 'removed' }
  const reason = agent ? agent.reason : roster.suspended.get(agentId)
  if (agent || reason !== undefined) return { state: 'suspended', reason: reason ?? '' }
  return roster.unknownAgents === 'allow' ? ACTIVE : { state: 'not_registered' }
}

/** A grant with its chain; its rule is that of its last link. */
export interface ChainGrant extends Rule {
  readonly chain: PermissionChain
}

/** The compiled permissions and modes of an organization; immutable. */
export interface CompiledPermissions {
  readonly byId: ReadonlyMap<string, CompiledPermission>
  readonly denies: RuleIndex<CompiledPermission>
  readonly grants: RuleIndex<ChainGrant>
  /** Agents that act only on grants. */
  readonly granted: ReadonlySet<string>
}

/** All data that permissions are evaluated with. */
export type Authority = CompiledPermissions & Roster

/** All data that the slot `agent_deny` reads. */
export type AgentAuthority = CompiledPermissions & AgentRules

/** `permissions` may omit revoked ones: their children then have no parent. */
export function rulesOf(
  permissions: readonly CompiledPermission[],
  granted: ReadonlySet<string>,
): CompiledPermissions {
  const byId = new Map(permissions.map((permission) => [permission.id, permission]))
  const denies = permissions.filter(({ effect, isRevoked }) => effect === 'deny' && !isRevoked)
  const grants = permissions
    .filter(({ effect }) => effect === 'allow')
    .map((permission): ChainGrant => ({ ...permission, chain: chainOf(permission, byId) }))
    .filter(({ chain }) => chain.broken === null)
  return { byId, denies: RuleIndex.of(denies), grants: RuleIndex.of(grants), granted }
}

/** The result of permissions for a request, before other stages. */
export type PermissionResult =
  | { readonly says: 'nothing' }
  | { readonly says: 'suspended'; readonly reason: string }
  | { readonly says: 'removed' | 'not_registered' }
  | { readonly says: 'denied'; readonly by: CompiledPermission; readonly isError: boolean }
  | { readonly says: 'overtime' | 'no_permission' }
  | { readonly says: 'granted'; readonly chain: PermissionChain }

/**
 * Evaluates the agent's state, then denials, then grants; the first result applies. Beyond the time
 * of `meter`, conditions are errors, unknown denials are `overtime`, and the search for a grant ends.
 */
export function evaluatePermissions(
  ask: Ask,
  authority: Authority,
  meter: Meter,
): PermissionResult {
  const { agent_id } = ask.request
  const state = agentAdmission(agent_id, authority)
  if (state.state === 'suspended') return { says: 'suspended', reason: state.reason }
  if (state.state !== 'active') return { says: state.state }
  const looks: Looks = { meter, rules: 0, isOver: false }
  const denied = denialOf(ask, authority, looks)
  if (denied === 'overtime') return { says: 'overtime' }
  if (denied) return { says: 'denied', ...denied }
  const chain = liveChain(ask, authority, looks)
  if (chain) return { says: 'granted', chain }
  return authority.granted.has(agent_id) ? { says: 'no_permission' } : { says: 'nothing' }
}

/** The verdict of the slot `agent_deny`. */
export function decideAgent(ask: Ask, authority: AgentAuthority): StageVerdict {
  const { agent_id } = ask.request
  // The first stage, so that the conditions of all stages can read the agent.
  ask.agent = authority.registry.get(agent_id)?.attributes
  const verdict = admit(ask, authority)
  if (!authority.hasRegistry || authority.registry.has(agent_id)) return verdict
  return { ...verdict, notes: { ...verdict.notes, answer: NOT_REGISTERED } }
}

const NOT_REGISTERED = { agent: { registered: false } } as const

function admit(ask: Ask, authority: AgentAuthority): StageVerdict {
  if (authority.ownCredentialsOnly && ask.caller && ask.caller.principal.type !== 'credential')
    return refused(
      'The organization requires agents to use their own credentials.',
      'setting',
      'require_agent_credentials',
    )
  const disguised = disguisedAgent(ask, authority)
  if (disguised !== null)
    return refused(
      'The subject is a registered agent; no other agent can act for it.',
      'agent',
      disguised,
    )
  return verdictOf(ask, evaluatePermissions(ask, authority, ask.meter))
}

/**
 * A registered agent that names another agent to act for it, and so would be decided by the other's
 * rules.
 */
function disguisedAgent({ claims, request }: Ask, { registry }: AgentAuthority): string | null {
  const id = claims.subject?.['id']
  return typeof id === 'string' && id !== request.agent_id && registry.has(id) ? id : null
}

const refused = (message: string, kind: string, id: string): StageVerdict => ({
  verdict: 'deny',
  reason: 'agent_denied',
  message,
  notes: { matched: [{ kind, id }] },
})

function verdictOf(ask: Ask, standing: PermissionResult): StageVerdict {
  switch (standing.says) {
    case 'suspended':
      return {
        verdict: 'deny',
        reason: 'agent_suspended',
        message: `The agent is suspended${standing.reason === '' ? '.' : `: ${standing.reason}`}`,
        notes: { matched: [{ kind: 'agent', id: ask.request.agent_id }] },
      }
    case 'removed':
      return {
        verdict: 'deny',
        reason: 'agent_removed',
        message: 'The agent was removed.',
        notes: { matched: [{ kind: 'agent', id: ask.request.agent_id }] },
      }
    case 'not_registered':
      return refused(
        'The organization allows only registered agents to act.',
        'setting',
        'unknown_agents',
      )
    case 'denied':
      return {
        verdict: 'deny',
        reason: 'agent_denied',
        message: standing.isError
          ? `The condition of the denial ${standing.by.id} cannot be evaluated.`
          : (standing.by.description ?? `The permission ${standing.by.id} denies this action.`),
        notes: { matched: [{ kind: 'permission', id: standing.by.id }] },
      }
    case 'overtime':
      return {
        verdict: 'deny',
        reason: 'agent_denied',
        message: `The denials could not be evaluated within ${DECISION_MS} ms.`,
      }
    case 'no_permission':
      return {
        verdict: 'deny',
        reason: 'no_permission',
        message: 'No permission of the agent allows this action.',
      }
    case 'granted': {
      const matched = standing.chain.links.map(({ id }) => ({ kind: 'permission', id }))
      return { verdict: 'pass', reason: 'permission_grant', notes: { matched } }
    }
    default:
      return { verdict: 'pass' }
  }
}

interface Denial {
  readonly by: CompiledPermission
  readonly isError: boolean
}

// Reading the clock costs as much as evaluating a rule.
const RULES_A_LOOK = 16

/** The looks at the clock during one request. */
interface Looks {
  readonly meter: Meter
  rules: number
  isOver: boolean
}

/** Counts a rule; returns whether the time is over. Looks at the clock after every few rules. */
function isOverAfterRule(looks: Looks): boolean {
  if (++looks.rules % RULES_A_LOOK === 0) looks.isOver ||= looks.meter.isOver()
  return looks.isOver
}

/** A failing condition denies: its result is unknown. */
function denialOf(ask: Ask, { denies }: Authority, looks: Looks): Denial | 'overtime' | null {
  for (const by of denies.candidates(ask.request.agent_id, ask.request.action).rules) {
    const match = matchRule(by, ask, looks.meter)
    if (match !== false) return { by, isError: match === 'error' }
    if (isOverAfterRule(looks)) return 'overtime'
  }
  return null
}

/** A live chain with every link matching the request. */
function liveChain(ask: Ask, authority: Authority, looks: Looks): PermissionChain | null {
  const { agent_id, action } = ask.request
  for (const { chain } of authority.grants.candidates(agent_id, action).rules) {
    if (authorizes(chain, ask, authority, looks)) return chain
    if (looks.isOver) return null
  }
  return null
}

/** A failing link does not match. No delegator may be denied the action itself. */
function authorizes(chain: PermissionChain, ask: Ask, authority: Authority, looks: Looks): boolean {
  // From the end: the last link is usually the narrowest.
  for (const { link } of chain.links.toReversed()) {
    if (isOverAfterRule(looks) || matchRule(link, ask, looks.meter) !== true) return false
  }
  if (chainBreakOf(chain, ask.now, authority)) return false
  const delegators = chain.links.slice(0, -1)
  return delegators.every(
    ({ agentId }) => denialOf(asIf(agentId, ask, authority), authority, looks) === null,
  )
}

/** The same request by another agent. */
function asIf(agentId: string, ask: Ask, roster: Roster): Ask {
  const agent = roster.registry.get(agentId)?.attributes
  return { ...ask, agent, request: { ...ask.request, agent_id: agentId } }
}

/** The reason why a permission is not in force. */
type ChainBreakReason =
  | 'revoked'
  | 'expired'
  | 'not_yet_valid'
  | 'suspended'
  | 'removed'
  | 'not_registered'
  | 'parent_missing'
  | 'not_held'
  | 'not_delegable'
  | 'too_deep'
  | 'cycle'

/** The reason, and the link that breaks the chain. */
interface ChainBreak {
  readonly reason: ChainBreakReason
  readonly id: string
}

/** A permission with all of its ancestors. */
export interface PermissionChain {
  /** From the root to the permission; from the break if the chain is broken. */
  readonly links: readonly [CompiledPermission, ...CompiledPermission[]]
  /** A permanent break. */
  readonly broken: ChainBreak | null
}

/**
 * Builds the chain of a permission up to its root. Cyclic or overlong chains grant nothing; the
 * walk ends after `MAX_DELEGATION_DEPTH` links.
 */
export function chainOf(
  leaf: CompiledPermission,
  byId: ReadonlyMap<string, CompiledPermission>,
): PermissionChain {
  const links: [CompiledPermission, ...CompiledPermission[]] = [leaf]
  const agents = new Set([leaf.agentId])
  let broken: ChainBreak | null = leaf.isRevoked ? { reason: 'revoked', id: leaf.id } : null
  for (let child = leaf; child.parentId !== null; child = links[0]) {
    const parent = byId.get(child.parentId)
    const reason = parent ? faultOf(parent, child, links.length, agents) : 'parent_missing'
    broken ??= reason && { reason, id: child.parentId }
    if (!parent || reason === 'cycle' || reason === 'too_deep') break
    agents.add(parent.agentId)
    links.unshift(parent)
  }
  return { links, broken }
}

/** The reason why `parent` does not support `child`, which has `below - 1` links after it. */
function faultOf(
  parent: CompiledPermission,
  child: CompiledPermission,
  below: number,
  agents: ReadonlySet<string>,
): ChainBreakReason | null {
  if (agents.has(parent.agentId)) return 'cycle'
  if (below > MAX_DELEGATION_DEPTH) return 'too_deep'
  if (parent.isRevoked) return 'revoked'
  if (parent.effect !== 'allow' || !parent.canDelegate) return 'not_delegable'
  if (below > parent.maxDepth) return 'too_deep'
  const { type, id } = child.grantedBy
  return type === 'agent' && id === parent.agentId ? null : 'not_held'
}

/** The reason why a chain is not in force at a time; null if it is. */
export function chainBreakOf(
  { links, broken }: PermissionChain,
  now: number,
  roster: Roster,
): ChainBreak | null {
  if (broken) return broken
  for (const { id, agentId, effect, notBefore, expiresAt } of links) {
    if (expiresAt !== null && now >= expiresAt) return { reason: 'expired', id }
    if (notBefore !== null && now < notBefore) return { reason: 'not_yet_valid', id }
    if (effect !== 'allow') continue
    const { state } = agentAdmission(agentId, roster)
    if (state !== 'active') return { reason: state, id }
  }
  return null
}
