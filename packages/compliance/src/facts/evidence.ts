import type { FactEntry } from './entry.ts'
import type { Question } from './question.ts'
import { Sample } from './seqs.ts'
import type { SeqPage } from './seqs.ts'
import type { State } from './state/state.ts'

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

export type Idle = 'not_configured' | 'not_exercised' | 'too_young'

/** What the period holds of a kind, and whether it was at work. */
export interface Evidence {
  readonly kind: EvidenceKind
  readonly operated: boolean
  /** Why not; null where it was. */
  readonly reason: Idle | null
  /** Entries in the period, the first and the last of them, and at most 25. */
  readonly count: number
  readonly firstSeq: number | null
  readonly lastSeq: number | null
  readonly sample: readonly number[]
}

/** Gathers the evidence of a period. */
export class EvidenceMeter {
  readonly #samples = new Map<EvidenceKind, Sample>()

  constructor(
    _question: Question,
    _collect: { readonly kind: EvidenceKind; readonly into: SeqPage } | null,
  ) {
    for (const kind of EVIDENCE_KINDS) this.#samples.set(kind, new Sample())
  }

  entry(_entry: FactEntry, _state: State, _inPeriod: boolean): void {}

  end(_state: State): Evidence[] {
    return EVIDENCE_KINDS.map((kind) => ({
      kind,
      operated: false,
      reason: 'not_exercised' as const,
      count: 0,
      firstSeq: null,
      lastSeq: null,
      sample: this.#samples.get(kind)?.seqs ?? [],
    }))
  }
}
