import { ADMINISTRATIVE, isAdministrative } from './changes/administrative.ts'
import type { FactEntry } from './entry.ts'
import type { EvidenceKind } from './evidence-kinds.ts'
import { DECIDED } from './lazy-entry.ts'
import { isNamed } from './approvals/votes.ts'
import { numberIn, recordIn, recordsIn } from './read.ts'
import { inForceFor } from './rules/for-decision.ts'
import { amountOf, hasCap } from './spend/amount.ts'
import { approvalOf, voteOf } from './state/approvals.ts'
import { ByAgent } from './state/by-agent.ts'
import { isLive } from './state/credentials.ts'
import type { Kept } from './state/fold.ts'
import { isOpen } from './state/permissions.ts'
import type { State } from './state/state.ts'
import { INTERVENING, interventionOf } from './stops/intervention.ts'

/** Where evidence of a kind comes from. */
export interface Source {
  /** Entries that are evidence; all of these kinds, unless `counts` leaves some out. */
  readonly reads: readonly string[]
  readonly counts?: (entry: FactEntry, state: State) => boolean
  /** What had been set up when the period began: the entries that tell of it are evidence too. */
  readonly standing?: (state: State, from: number) => Iterable<Kept>
  /** Kinds of entries that can show it at work, where they are not those of `reads`. */
  readonly worksIn?: readonly string[]
  /** Whether an entry of the period shows it at work; every one that counts does, unless given. */
  readonly works?: (entry: FactEntry, state: State) => boolean
  /** What is set up is at work. */
  readonly worksByStanding?: true
}

/** A decision in which somebody voted whom a key names. */
const isDecidedByName = ({ kind, data }: FactEntry): boolean =>
  kind === 'approval.decided' &&
  recordsIn(recordIn(data, 'approval') ?? {}, 'votes').some((vote) => isNamed(voteOf(vote)))

const always = () => true
const never = () => false

const PEOPLE_OR_DECISIONS = [DECIDED, 'approval.voted', 'approval.decided']

/** Something that governs decisions: it works when one is put to it. */
const inForce = (of: 'policies' | 'approvalRules'): Pick<Source, 'worksIn' | 'works'> => ({
  worksIn: [DECIDED],
  works: (entry, state) => inForceFor(entry, state)[of] > 0,
})

const permissionsOf = new WeakMap<State, ByAgent>()

/**
 * Any change of permissions shows them at work, so while a decision still has to, they are as they were
 * when they were first asked for.
 */
function isPermitted({ kind, agent_id: id, time }: FactEntry, state: State): boolean {
  if (kind !== DECIDED) return true
  const known = permissionsOf.get(state) ?? new ByAgent(state.permissions.values())
  permissionsOf.set(state, known)
  return id !== null && known.of(id).some((one) => isOpen(one, time))
}

/** A decision with an amount while a cap is in force. */
function isCapped({ kind, agent_id: id, decided }: FactEntry, { spendLimits }: State): boolean {
  if (kind !== DECIDED) return true
  if (spendLimits.size === 0 || id === null || !decided) return false
  return hasCap(spendLimits.get(id)) && amountOf(decided) > 0
}

const THE_LEDGER: Source = { reads: ['*'], worksIn: PEOPLE_OR_DECISIONS, works: always }

export const SOURCES: Readonly<Record<EvidenceKind, Source>> = {
  ledger_integrity: THE_LEDGER,
  ledger_continuity: THE_LEDGER,
  // How old the oldest decision is, is found out apart.
  log_retention: { reads: ['*'], works: never },
  authorization_decisions: { reads: [DECIDED] },
  approval_rules: {
    reads: ['approval_rule.set', 'approval_rule.removed'],
    standing: ({ approvalRules }) => approvalRules.values(),
    ...inForce('approvalRules'),
  },
  approval_decisions: {
    reads: ['approval.requested', 'approval.voted', 'approval.decided', 'approval.expired'],
    // An approval that nobody used runs out too: that is no answer, and no lack of one.
    works: (entry) =>
      isDecidedByName(entry) ||
      (entry.kind === 'approval.expired' && approvalOf(entry)?.decidedAt === null),
  },
  policy_rules: {
    reads: ['policy.created', 'policy.deleted'],
    standing: ({ policies }) => policies.values(),
    ...inForce('policies'),
  },
  policy_changes: {
    reads: [
      'policy.created',
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
    standing: ({ agents }) => [...agents.values()].filter(({ removed }) => removed === null),
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
    // An issuer that is trusted at the end is found out apart.
    works: ({ kind }) => kind === 'token.exchanged',
  },
  guard_checks: { reads: ['guard.checked', 'guard.counted'] },
  scorer_runs: {
    reads: ['scorer.ran'],
    works: ({ data }) => (numberIn(data, 'scored') ?? 0) > 0,
  },
  admin_actions: { reads: ADMINISTRATIVE, counts: isAdministrative },
  agent_interventions: {
    reads: INTERVENING,
    counts: (entry, state) => interventionOf(entry, state) !== null,
    works: (entry, state) => interventionOf(entry, state)?.byPerson === true,
  },
  report_history: {
    reads: ['report.generated', 'ledger.verified'],
    // That somebody asked for a report before is no evidence for this one.
    works: ({ kind }) => kind === 'ledger.verified',
  },
}
