const DECIDED = 'authorization.decided'
const RULES = [
  'policy.created',
  'policy.updated',
  'policy.deleted',
  'approval_rule.',
  'spend_limit.',
  'budget.set',
  'budget.removed',
  'trust_policy.',
]
const ACCESS = ['permission.', 'agent_mode.', 'agent.', 'credential.']

/**
 * Kinds of entries that can be evidence, by kind of evidence; a final dot marks a prefix. `also
 * before`: objects set up before the period and in force in it are evidence too.
 */
const EVIDENCE: Readonly<Record<string, { kinds: readonly string[]; alsoBefore?: true }>> = {
  // These three are about the record as a whole.
  ledger_integrity: { kinds: [''] },
  ledger_continuity: { kinds: [''] },
  log_retention: { kinds: [''] },
  authorization_decisions: { kinds: [DECIDED] },
  approval_rules: { kinds: ['approval_rule.'], alsoBefore: true },
  approval_decisions: { kinds: ['approval.'] },
  policy_rules: { kinds: ['policy.created', 'policy.updated', 'policy.deleted'], alsoBefore: true },
  policy_changes: { kinds: RULES },
  policy_dry_runs: { kinds: ['policy.dry_run'] },
  agent_permissions: { kinds: ['permission.'], alsoBefore: true },
  spend_limits: {
    kinds: ['spend_limit.', 'budget.set', 'budget.removed', DECIDED],
    alsoBefore: true,
  },
  agent_registry: { kinds: ['agent.'], alsoBefore: true },
  credential_lifecycle: { kinds: ['credential.', 'token.exchanged'], alsoBefore: true },
  trust_policies: { kinds: ['trust_policy.', 'trust.evaluated'], alsoBefore: true },
  trusted_issuers: { kinds: ['issuer.', 'token.exchanged'], alsoBefore: true },
  guard_checks: { kinds: ['guard.'] },
  scorer_runs: { kinds: ['scorer.ran'] },
  admin_actions: {
    kinds: [
      ...RULES,
      ...ACCESS,
      'policy_set.applied',
      'policy_set.locked',
      'policy_set.removed',
      'issuer.',
      'key.',
      'organization.',
      'person.',
      'login_provider.',
      'webhook.',
      'sink.',
      'mcp.',
      'ledger.erased',
      'ledger.pruned',
      'ledger.key_rotated',
    ],
  },
  agent_interventions: { kinds: [...ACCESS, 'approval.'] },
  report_history: { kinds: ['report.generated', 'ledger.verified'] },
}

interface Told {
  readonly kind: string
  readonly recorded_at: string
}

export const isKnown = (evidence: string): boolean => Object.hasOwn(EVIDENCE, evidence)

/**
 * Returns true if an entry can be evidence of a kind in a period; for an unknown kind, any entry
 * can. Entries that callers append are evidence of the record only.
 */
export function isEvidence(
  evidence: string,
  { kind, recorded_at }: Told,
  { from, to }: { readonly from: string; readonly to: string },
): boolean {
  const known = isKnown(evidence) ? EVIDENCE[evidence] : undefined
  const { kinds, alsoBefore } = known ?? { kinds: [''], alsoBefore: true }
  const isCarried = alsoBefore === true && kind === 'state.carried'
  const isOfKind = kinds.some(
    (one) => kind === one || ((one === '' || one.endsWith('.')) && kind.startsWith(one)),
  )
  return (isOfKind || isCarried) && recorded_at < to && (alsoBefore === true || recorded_at >= from)
}
