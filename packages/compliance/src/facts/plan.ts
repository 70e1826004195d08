import type { Plan } from '@remit/contract'
import type { EvidenceKind } from './evidence.ts'

const ENTERPRISE: ReadonlySet<EvidenceKind> = new Set<EvidenceKind>([
  'approval_rules',
  'approval_decisions',
  'policy_rules',
  'agent_permissions',
  'agent_registry',
  'credential_lifecycle',
  'trust_policies',
  'trusted_issuers',
])

/** Whether a plan has what gives evidence of a kind; a test holds this against the contract. */
export const isInPlan = (kind: EvidenceKind, plan: Plan): boolean =>
  plan === 'enterprise' || (plan === 'team' && !ENTERPRISE.has(kind))
