import type { Plan } from '@remit/contract'

// Evidence kinds of the enterprise plan: policies, permissions, approvals and identity.
const ENTERPRISE_KINDS: ReadonlySet<string> = new Set([
  'agent_interventions',
  'agent_permissions',
  'agent_registry',
  'approval_decisions',
  'approval_rules',
  'credential_lifecycle',
  'policy_rules',
  'trust_policies',
  'trusted_issuers',
])

/** Returns whether an organization on the plan can have evidence of a kind. */
export const isKindInPlan = (kind: string, plan: Plan): boolean =>
  plan === 'enterprise' || (plan === 'team' && !ENTERPRISE_KINDS.has(kind))
