export { AlreadyAnswered, derivedClaim } from '../idempotency/claim.ts'
export type { IdempotencyClaim } from '../idempotency/claim.ts'
export type { Draft, EntryData, EntryDraft, EntryKind } from '../ledger/format/draft.ts'
export type { LinkedEntry } from '../ledger/format/link.ts'
export {
  LATER,
  answering,
  firstOf,
  lane,
  receipted,
  recording,
  toClientError,
} from '../ledger/write/work.ts'
export type {
  Change,
  ChangeObserver,
  EntryObserver,
  Lane,
  LaneBatch,
  LaneResult,
  Outcome,
  WorkOrigin,
  Work,
  LedgerScope,
} from '../ledger/write/work.ts'
