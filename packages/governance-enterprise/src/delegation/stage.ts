import { DECISION_MS } from '@remit/core/decision'
import type { Ask, Stage, StageVerdict } from '@remit/core/decision'
import { MAX_CACHED_ORGS } from '@remit/core/base'
import type { AnyDatabase } from '@remit/core/db'
import { LRUCache } from 'lru-cache'
import { evaluatePermissions, rulesOf } from './authority.ts'
import type { CompiledPermissions, PermissionResult } from './authority.ts'
import type { AgentRules, ReadRoster } from '../agents/agents.ts'
import { modesSince, permissionsSince } from './store.ts'
import { toPermission } from './permission.ts'
import type { CompiledPermission } from './permission.ts'

type AgentPermissions = CompiledPermissions & AgentRules

/** The slot `agent_deny`: agent states, denials, and agents in the mode `granted`. */
export function agentStage(
  readRoster: ReadRoster,
): Stage<AgentPermissions, never, AgentPermissions> {
  const live = new LiveRules()
  return {
    unavailable: {
      reason: 'stage_unavailable',
      message: 'The permissions of the agent cannot be read.',
    },

    reads: ['agents', 'modes', 'permissions', 'stops'],

    async load({ orgId, tx, organization }) {
      const rules = await live.read(orgId, tx)
      return { ...rules, ...(await readRoster(tx, orgId, organization.settings)) }
    },

    decide(ask, authority) {
      // The first stage, so that the conditions of all stages can read the agent.
      ask.agent = authority.registry.get(ask.request.agent_id)?.attributes
      const verdict = admit(ask, authority)
      const { agent_id } = ask.request
      if (!authority.hasRegistry || authority.registry.has(agent_id)) return verdict
      return { ...verdict, notes: { ...verdict.notes, answer: NOT_REGISTERED } }
    },
  }
}

const NOT_REGISTERED = { agent: { registered: false } } as const

function admit(ask: Ask, authority: AgentPermissions): StageVerdict {
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
function disguisedAgent({ claims, request }: Ask, { registry }: AgentPermissions): string | null {
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

interface LiveRulesKnown {
  /** The newest revision in each table. */
  readonly permissionsAt: number
  readonly modesAt: number
  readonly permissions: ReadonlyMap<string, CompiledPermission>
  readonly rules: CompiledPermissions
}

/**
 * Caches the compiled permissions of organizations. Few permissions change at a time, and most
 * configuration changes concern other tables, so only changed rows are read again.
 */
class LiveRules {
  readonly #byOrg = new LRUCache<string, LiveRulesKnown>({ max: MAX_CACHED_ORGS })

  /** Reads the rules in the transaction. */
  async read(orgId: string, tx: AnyDatabase): Promise<CompiledPermissions> {
    const known = await this.#follow(orgId, tx, this.#byOrg.get(orgId))
    this.#byOrg.set(orgId, known)
    return known.rules
  }

  async #follow(
    orgId: string,
    tx: AnyDatabase,
    before: LiveRulesKnown | undefined,
  ): Promise<LiveRulesKnown> {
    const changed = await permissionsSince(tx, orgId, before?.permissionsAt ?? null)
    const modes = await modesSince(tx, orgId, before?.modesAt ?? null)
    if (before && changed.length === 0 && modes.length === 0) return before
    const permissions = new Map(before?.permissions)
    for (const row of changed) {
      if (row.revoked_at === null) permissions.set(row.id, toPermission(row))
      else permissions.delete(row.id)
    }
    const granted = new Set(before?.rules.granted)
    for (const { agent_id, mode } of modes) {
      if (mode === 'granted') granted.add(agent_id)
      else granted.delete(agent_id)
    }
    return {
      permissionsAt: newest(before?.permissionsAt, changed),
      modesAt: newest(before?.modesAt, modes),
      permissions,
      rules: rulesOf([...permissions.values()], granted),
    }
  }
}

const newest = (before = -1, rows: readonly { readonly revision: number }[]): number =>
  rows.reduce((most, { revision }) => Math.max(most, revision), before)
