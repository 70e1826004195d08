/** Kinds of evidence, as in data/evidence-kinds.json. */
export const EVIDENCE_KINDS = [
  'ledger_integrity',
  'ledger_continuity',
  'log_retention',
  'authorization_decisions',
  'approval_rules',
  'approval_decisions',
  'policy_rules',
  'policy_changes',
  'policy_dry_runs',
  'agent_permissions',
  'spend_limits',
  'agent_registry',
  'credential_lifecycle',
  'trust_policies',
  'trusted_issuers',
  'guard_checks',
  'scorer_runs',
  'admin_actions',
  'agent_interventions',
  'report_history',
] as const
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number]
