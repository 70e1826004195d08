import { isAdministrative } from './changes.ts'
import type { FactEntry } from './entry.ts'
import { DECIDED } from './entry.ts'
import { isNamed } from './approvers.ts'
import { inForceFor } from './rules.ts'
import { amountOf, hasCap } from './spend.ts'
import { voteOf } from './state/rules.ts'
import { ByAgent, isLive, isOpen } from './state/agents.ts'
import type { RecordedObject } from './state/reducer.ts'
import type { FactState } from './state/state.ts'
import { interventionOf } from './stops.ts'

/** The source of one kind of evidence. */
export interface EvidenceSource {
  /** By default, every entry of the kinds of the catalogue counts. */
  readonly counts?: (entry: FactEntry, state: FactState) => boolean
  /** Objects that existed when the period began; the entries that record them are evidence too. */
  readonly standing?: (state: FactState, from: number) => Iterable<RecordedObject>
  /** Entry kinds that can show operation, if they differ from those of the catalogue. */
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

const THE_LEDGER: EvidenceSource = { worksIn: PEOPLE_OR_DECISIONS, works: always }

/** In the order of data/evidence-kinds.json. */
export const EVIDENCE_SOURCES = {
  ledger_integrity: THE_LEDGER,
  ledger_continuity: THE_LEDGER,
  // The age of the oldest decision is computed separately.
  log_retention: { works: never },
  authorization_decisions: { counts: ({ erased }) => !erased },
  approval_rules: {
    standing: ({ approvalRules }) => approvalRules.values(),
    ...inForce('approvalRules'),
  },
  approval_decisions: { works: isDecidedByName },
  policy_rules: {
    standing: ({ policies }) => policies.values(),
    ...inForce('policies'),
  },
  policy_changes: {},
  policy_dry_runs: {},
  agent_permissions: {
    standing: ({ permissions }) => permissions.values(),
    worksIn: ['permission.granted', 'permission.revoked', DECIDED],
    works: isPermitted,
  },
  spend_limits: {
    counts: isCapped,
    standing: ({ spendLimits }) => spendLimits.values(),
    worksIn: [DECIDED],
    works: isCapped,
  },
  agent_registry: {
    standing: ({ agents }) => [...agents.values()].filter(({ isRemoved }) => !isRemoved),
    worksByStanding: true,
    works: ({ kind }) => kind === 'agent.registered',
  },
  credential_lifecycle: {
    standing: ({ credentials }, from) =>
      [...credentials.values()].filter((one) => isLive(one, from)),
    worksByStanding: true,
    works: ({ kind }) => kind === 'credential.issued' || kind === 'credential.rotated',
  },
  trust_policies: {
    standing: ({ trustPolicies }) => trustPolicies.values(),
    works: ({ kind }) => kind === 'trust.evaluated',
  },
  trusted_issuers: {
    standing: ({ issuers }) => issuers.values(),
    // An issuer that is trusted at the end is checked separately.
    works: ({ kind }) => kind === 'token.exchanged',
  },
  guard_checks: {},
  scorer_runs: { works: (entry) => (entry.read('scorer.ran').scored ?? 0) > 0 },
  admin_actions: { counts: isAdministrative },
  agent_interventions: {
    counts: (entry, state) => interventionOf(entry, state) !== null,
    works: (entry, state) => interventionOf(entry, state)?.byPerson === true,
  },
  // An earlier report is no evidence for the next one.
  report_history: { works: (entry) => entry.read('ledger.verified').valid === true },
} satisfies Record<string, EvidenceSource>

export type EvidenceKind = keyof typeof EVIDENCE_SOURCES
