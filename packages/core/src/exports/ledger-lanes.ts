export { AlreadyAnswered, derivedClaim } from '../idempotency/claim.ts'
export type { IdempotencyClaim } from '../idempotency/claim.ts'
export type { Draft, EntryData, EntryDraft, EntryKind } from '../ledger/format/draft.ts'
export type { LinkedEntry } from '../ledger/format/link.ts'
export { LATER, answering, firstOf, toClientError } from '../ledger/write/work.ts'
export type {
  Change,
  EntryObserver,
  Item,
  Lane,
  LaneResult,
  Outcome,
  Requester,
  WriteContext,
} from '../ledger/write/work.ts'
