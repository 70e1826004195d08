import type { Ask, Stage, Verdict } from '@remit/core'
import { authorityOf, standingOf } from '../delegation/authority.ts'
import type { Authority, Standing } from '../delegation/authority.ts'
import { toPermission } from '../delegation/permission.ts'
import { findRevision, listModes, livePermissions } from '../delegation/store.ts'
import { readRoster } from './roster.ts'
import type { Roster } from './state.ts'

/** What one decision may take. */
const BUDGET_MS = 50
const MAX_ORGANIZATIONS = 1_000

/**
 * The slot `agent_deny`: suspended agents, denies, and agents that act on grants only. `monotonic` is a
 * clock in milliseconds that only measures.
 */
export function agentStage(
  monotonic: () => number = () => performance.now(),
): Stage<Authority, never, Authority> {
  const known = new Map<string, { revision: number; authority: Authority }>()
  return {
    unavailable: {
      reason: 'stage_unavailable',
      message: 'Whether the agent may act at all cannot be read.',
    },

    async load(orgId, tx) {
      // Most changes of an organization's configuration are about something else.
      const revision = await findRevision(tx, orgId)
      const roster = await readRoster(tx, orgId)
      const before = known.get(orgId)
      const authority =
        before?.revision === revision
          ? { ...before.authority, ...roster }
          : await readAuthority(orgId, tx, roster)
      known.delete(orgId)
      known.set(orgId, { revision, authority })
      for (const oldest of known.keys()) {
        if (known.size <= MAX_ORGANIZATIONS) break
        known.delete(oldest)
      }
      return authority
    },

    prepare: (_asks, authority) => Promise.resolve(authority),

    decide(ask, authority) {
      const started = monotonic()
      const meter = { isOver: () => monotonic() - started > BUDGET_MS }
      return verdictOf(ask, standingOf(ask, authority, meter))
    },
  }
}

async function readAuthority(
  orgId: string,
  tx: Parameters<Stage['load']>[1],
  roster: Roster,
): Promise<Authority> {
  const modes = await listModes(tx, orgId)
  const granted = modes.filter(({ mode }) => mode === 'granted').map(({ agent_id }) => agent_id)
  const permissions = await livePermissions(tx, orgId)
  return authorityOf(permissions.map(toPermission), new Set(granted), roster)
}

function verdictOf(ask: Ask, standing: Standing): Verdict {
  switch (standing.says) {
    case 'suspended':
      return {
        verdict: 'deny',
        reason: 'agent_suspended',
        message: `The agent is suspended: ${standing.reason}`,
        notes: { matched: [{ kind: 'agent', id: ask.request.agent_id }] },
      }
    case 'denied':
      return {
        verdict: 'deny',
        reason: 'agent_denied',
        message: standing.isError
          ? `The condition of ${standing.by.id}, which denies, cannot be evaluated.`
          : (standing.by.description ?? `${standing.by.id} denies it to the agent.`),
        notes: { matched: [{ kind: 'permission', id: standing.by.id }] },
      }
    case 'no_permission':
      return {
        verdict: 'deny',
        reason: 'no_permission',
        message: 'The agent acts on permissions only, and none that is in force allows this.',
      }
    case 'granted': {
      const matched = standing.chain.links.map(({ id }) => ({ kind: 'permission', id }))
      return { verdict: 'pass', reason: 'permission_grant', notes: { matched } }
    }
    default:
      return { verdict: 'pass' }
  }
}
