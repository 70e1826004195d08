import {
  agentsMeter,
  credentialsMeter,
  dormantMeter,
  grantsMeter,
  orphanedMeter,
  unregisteredMeter,
} from './access.ts'
import { rapidApprovalsMeter, timingMeter } from './approvers.ts'
import { gatesMeter, approverLoadMeter, independenceMeter } from './approval-gates.ts'
import { changesMeter } from './changes.ts'
import { callersMeter, governedMeter, outcomesMeter, gapsMeter, hostsMeter } from './decisions.ts'
import { guardMeter, flagsMeter } from './guard.ts'
import {
  chainMeter,
  coverageMeter,
  entriesMeter,
  reportsMeter,
  retentionMeter,
  verificationsMeter,
} from './ledger.ts'
import type { CreateMeter } from './meter.ts'
import { authorsMeter, inForceMeter, previewsMeter } from './rules.ts'
import { failShareMeter, runsMeter } from './scorers.ts'
import { capsMeter, sharedMeter, unavailableMeter } from './spend.ts'
import { interventionsMeter, stoppedMeter } from './stops.ts'
import { trustMeter, exchangesMeter } from './trust.ts'

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
  sharedMeter,
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
