import { ADMINISTRATIVE, isAdministrative } from './changes.ts'
import type { FactEntry } from './entry.ts'
import type { EvidenceKind } from './evidence.ts'
import { DECIDED } from './entry.ts'
import { isNamed } from './approvers.ts'
import { inForceFor } from './rules.ts'
import { amountOf, hasCap } from './spend.ts'
import { voteOf } from './state/rules.ts'
import { ByAgent, isLive, isOpen } from './state/agents.ts'
import type { RecordedObject } from './state/reducer.ts'
import type { FactState } from './state/state.ts'
import { INTERVENING, interventionOf } from './stops.ts'

/** The source of one kind of evidence. */
export interface EvidenceSource {
  /** Entry kinds that are evidence; `counts` can exclude some entries. */
  readonly reads: readonly string[]
  readonly counts?: (entry: FactEntry, state: FactState) => boolean
  /** Objects that existed when the period began; the entries that record them are evidence too. */
  readonly standing?: (state: FactState, from: number) => Iterable<RecordedObject>
  /** Entry kinds that can show operation, if they differ from `reads`. */
  readonly worksIn?: readonly string[]
  /** Returns whether an entry of the period shows operation; by default every counted entry does. */
  readonly works?: (entry: FactEntry, state: FactState) => boolean
  /** The existence of the object is operation. */
  readonly worksByStanding?: true
}

/** Returns whether the request was decided with the vote of a named person. */
const isDecidedByName = (entry: FactEntry): boolean =>
  entry.kind === 'approval.decided' &&
  (entry.read(entry.kind).approval?.votes ?? []).some((vote) => isNamed(voteOf(vote)))

const always = () => true
const never = () => false

const PEOPLE_OR_DECISIONS = [DECIDED, 'approval.voted', 'approval.decided']

/** A rule that governs decisions operates when a decision is evaluated against it. */
const inForce = (of: 'policies' | 'approvalRules'): Pick<EvidenceSource, 'worksIn' | 'works'> => ({
  worksIn: [DECIDED],
  works: (entry, state) => inForceFor(entry, state)[of] > 0,
})

const permissionsOf = new WeakMap<FactState, ByAgent>()

/**
 * Any change of permissions is operation. Until a decision shows it, permissions are read as they
 * were at first access.
 */
function isPermitted({ kind, agent_id: id, time }: FactEntry, state: FactState): boolean {
  if (kind !== DECIDED) return true
  const known = permissionsOf.get(state) ?? new ByAgent(state.permissions.values())
  permissionsOf.set(state, known)
  return id !== null && known.of(id).some((one) => isOpen(one, time))
}

/** Returns whether a decision with an amount was subject to a cap. */
function isCapped({ kind, agent_id: id, decided }: FactEntry, { spendLimits }: FactState): boolean {
  if (kind !== DECIDED) return true
  if (spendLimits.size === 0 || id === null || !decided) return false
  return hasCap(spendLimits.get(id)) && amountOf(decided) > 0
}

const THE_LEDGER: EvidenceSource = { reads: ['*'], worksIn: PEOPLE_OR_DECISIONS, works: always }

export const EVIDENCE_SOURCES: Readonly<Record<EvidenceKind, EvidenceSource>> = {
  ledger_integrity: THE_LEDGER,
  ledger_continuity: THE_LEDGER,
  // The age of the oldest decision is computed separately.
  log_retention: { reads: ['*'], works: never },
  authorization_decisions: { reads: [DECIDED], counts: ({ erased }) => !erased },
  approval_rules: {
    reads: ['approval_rule.set', 'approval_rule.removed'],
    standing: ({ approvalRules }) => approvalRules.values(),
    ...inForce('approvalRules'),
  },
  approval_decisions: {
    reads: ['approval.requested', 'approval.voted', 'approval.decided', 'approval.expired'],
    works: isDecidedByName,
  },
  policy_rules: {
    reads: ['policy.created', 'policy.updated', 'policy.deleted'],
    standing: ({ policies }) => policies.values(),
    ...inForce('policies'),
  },
  policy_changes: {
    reads: [
      'policy.created',
      'policy.updated',
      'policy.deleted',
      'approval_rule.set',
      'approval_rule.removed',
      'spend_limit.set',
      'spend_limit.removed',
      'trust_policy.created',
      'trust_policy.deleted',
    ],
  },
  policy_dry_runs: { reads: ['policy.dry_run'] },
  agent_permissions: {
    reads: ['permission.granted', 'permission.revoked'],
    standing: ({ permissions }) => permissions.values(),
    worksIn: ['permission.granted', 'permission.revoked', DECIDED],
    works: isPermitted,
  },
  spend_limits: {
    reads: ['spend_limit.set', 'spend_limit.removed', DECIDED],
    counts: isCapped,
    standing: ({ spendLimits }) => spendLimits.values(),
    worksIn: [DECIDED],
    works: isCapped,
  },
  agent_registry: {
    reads: ['agent.registered', 'agent.removed'],
    standing: ({ agents }) => [...agents.values()].filter(({ isRemoved }) => !isRemoved),
    worksByStanding: true,
    works: ({ kind }) => kind === 'agent.registered',
  },
  credential_lifecycle: {
    reads: ['credential.issued', 'credential.rotated', 'credential.revoked', 'token.exchanged'],
    standing: ({ credentials }, from) =>
      [...credentials.values()].filter((one) => isLive(one, from)),
    worksByStanding: true,
    works: ({ kind }) => kind === 'credential.issued' || kind === 'credential.rotated',
  },
  trust_policies: {
    reads: ['trust_policy.created', 'trust_policy.deleted', 'trust.evaluated'],
    standing: ({ trustPolicies }) => trustPolicies.values(),
    works: ({ kind }) => kind === 'trust.evaluated',
  },
  trusted_issuers: {
    reads: ['issuer.trusted', 'issuer.removed', 'token.exchanged'],
    standing: ({ issuers }) => issuers.values(),
    // An issuer that is trusted at the end is checked separately.
    works: ({ kind }) => kind === 'token.exchanged',
  },
  guard_checks: { reads: ['guard.checked', 'guard.counted'] },
  scorer_runs: {
    reads: ['scorer.ran'],
    works: (entry) => (entry.read('scorer.ran').scored ?? 0) > 0,
  },
  admin_actions: { reads: ADMINISTRATIVE, counts: isAdministrative },
  agent_interventions: {
    reads: INTERVENING,
    counts: (entry, state) => interventionOf(entry, state) !== null,
    works: (entry, state) => interventionOf(entry, state)?.byPerson === true,
  },
  // An earlier report is no evidence for the next one.
  report_history: {
    reads: ['ledger.verified'],
    works: (entry) => entry.read('ledger.verified').valid === true,
  },
}
