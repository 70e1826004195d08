import { agentsMeter } from './access/agents.ts'
import { credentialsMeter } from './access/credentials.ts'
import { dormantMeter } from './access/dormant.ts'
import { grantsMeter } from './access/grants.ts'
import { orphanedMeter } from './access/orphaned.ts'
import { unregisteredMeter } from './access/unregistered.ts'
import { rapidApprovalsMeter } from './approvals/rapid-approvals.ts'
import { gatesMeter } from './approvals/gates.ts'
import { independenceMeter } from './approvals/independence.ts'
import { approverLoadMeter } from './approvals/approver-load.ts'
import { timingMeter } from './approvals/timing.ts'
import { changesMeter } from './changes/changes.ts'
import { callersMeter } from './decisions/callers.ts'
import { gapsMeter } from './decisions/gaps.ts'
import { hostsMeter } from './decisions/hosts.ts'
import { governedMeter } from './decisions/governed.ts'
import { outcomesMeter } from './decisions/outcomes.ts'
import { guardMeter } from './guard/checks.ts'
import { flagsMeter } from './guard/flags.ts'
import { chainMeter } from './ledger/chain.ts'
import { coverageMeter } from './ledger/coverage.ts'
import { entriesMeter } from './ledger/entries.ts'
import { reportsMeter } from './ledger/reports.ts'
import { retentionMeter } from './ledger/retention.ts'
import { verificationsMeter } from './ledger/verifications.ts'
import type { CreateMeter } from './meter.ts'
import { authorsMeter } from './rules/authors.ts'
import { inForceMeter } from './rules/in-force.ts'
import { previewsMeter } from './rules/previews.ts'
import { failShareMeter } from './scorers/fail-share.ts'
import { runsMeter } from './scorers/runs.ts'
import { capsMeter } from './spend/caps.ts'
import { unavailableMeter } from './spend/unavailable.ts'
import { interventionsMeter } from './stops/interventions.ts'
import { stoppedMeter } from './stops/stopped.ts'
import { trustMeter } from './trust/evaluations.ts'
import { exchangesMeter } from './trust/exchanges.ts'

/** All meters, in the order of their metrics. Register a new one here. */
export const METERS: readonly CreateMeter[] = [
  entriesMeter,
  chainMeter,
  coverageMeter,
  retentionMeter,
  verificationsMeter,
  outcomesMeter,
  callersMeter,
  governedMeter,
  unavailableMeter,
  gatesMeter,
  timingMeter,
  rapidApprovalsMeter,
  approverLoadMeter,
  independenceMeter,
  interventionsMeter,
  stoppedMeter,
  agentsMeter,
  dormantMeter,
  credentialsMeter,
  orphanedMeter,
  unregisteredMeter,
  grantsMeter,
  changesMeter,
  previewsMeter,
  authorsMeter,
  inForceMeter,
  capsMeter,
  trustMeter,
  exchangesMeter,
  guardMeter,
  flagsMeter,
  runsMeter,
  failShareMeter,
  reportsMeter,
  gapsMeter,
  hostsMeter,
]
