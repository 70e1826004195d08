import type { ObjectKind } from '@remit/contract'
import type { Overlay } from '@remit/core/decision'
import type { Comparison, ObjectDocument } from './compare.ts'
import type { PlannedRules } from '../policies/overlay.ts'

type Changes = Comparison['changes']

/** Returns the changes of a plan as an overlay. Pure. */
export function overlayOf(
  { changes }: Comparison,
  documents: readonly ObjectDocument[],
): PlannedRules {
  const of = (kind: ObjectKind): Changes => changes.filter((one) => one.kind === kind)
  const policies = of('Policy').filter(({ after }) => after)
  const setting = of('Settings').find(({ after }) => after)?.after ?? {}
  const { default_effect, unknown_agents, four_eyes } = setting as Record<string, never>
  const overlay = {
    add: policies.map(({ after }) => after),
    remove: of('Policy').flatMap(({ before, object_id }) => (before ? [object_id] : [])),
    ...(default_effect !== undefined && { default_effect }),
    approval_rules: named(of('ApprovalRule'), 'id'),
    permissions: named(of('Permission'), 'id'),
    spend_limits: named(of('SpendLimit'), 'agent_id'),
    budgets: named(of('Budget'), 'id'),
    // Unchanged ones too: a grant of the plan sets the mode of its agent.
    agent_modes: {
      set: documents.flatMap(({ kind, spec }) => (kind === 'AgentMode' ? [spec] : [])),
    },
    settings: {
      ...(unknown_agents !== undefined && { unknown_agents }),
      ...(four_eyes !== undefined && { four_eyes }),
    },
  }
  // Documents were read with the shapes of the overlay.
  return {
    overlay: overlay as unknown as Overlay,
    added: policies.map(({ object_id }) => object_id),
  }
}

const named = (changes: Changes, key: 'id' | 'agent_id') => ({
  set: changes.flatMap(({ after, object_id }) => (after ? [{ ...after, [key]: object_id }] : [])),
  remove: changes.flatMap(({ change, object_id }) => (change === 'delete' ? [object_id] : [])),
})
