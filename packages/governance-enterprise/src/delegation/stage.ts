import type { Stage } from '@remit/core/decision'
import { MAX_CACHED_ORGS } from '@remit/core/base'
import type { AnyDatabase } from '@remit/core/db'
import { LRUCache } from 'lru-cache'
import { decideAgent, rulesOf } from './authority.ts'
import type { AgentAuthority, CompiledPermissions } from './authority.ts'
import type { ReadRoster } from '../agents/agents.ts'
import { modesSince, permissionsSince } from './store.ts'
import { overlaidAuthority } from './overlay.ts'
import { toPermission } from './permission.ts'

/** The slot `agent_deny`: agent states, denials, and agents in the mode `granted`. */
export function agentStage(readRoster: ReadRoster): Stage<AgentAuthority, never, AgentAuthority> {
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

    overlay: overlaidAuthority,

    decide: decideAgent,
  }
}

interface LiveRulesKnown {
  /** The newest revision in each table. */
  readonly permissionsAt: number
  readonly modesAt: number
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
    const permissions = new Map(before?.rules.byId)
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
      rules: rulesOf([...permissions.values()], granted),
    }
  }
}

const newest = (before = -1, rows: readonly { readonly revision: number }[]): number =>
  rows.reduce((most, { revision }) => Math.max(most, revision), before)
