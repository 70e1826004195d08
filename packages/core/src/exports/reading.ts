/**
 * Reads and verifies ledgers without the server. For threads of modules: a thread that imports this
 * instead of the whole package loads sooner.
 *
 * @module
 */
export { agentFacts } from '../authorize/agent-facts.ts'
export { recordedDecision } from '../authorize/recorded.ts'
export { isoTime } from '../base/clock.ts'
export { Failure } from '../base/errors.ts'
export { matchesAll, matchesPattern } from '@remit/contract/patterns'
export { openDatabase } from '../db/open.ts'
export { dialectOf, on } from '../db/portable.ts'
export { canonicalJson } from '@remit/contract/json'
export { parseCarried } from '../ledger/format/carried.ts'
export { parsePayload } from '../ledger/format/entry.ts'
export { findCut, ownEntries } from '../ledger/store/cut.ts'
export { carriedEntries } from '../ledger/store/erasure-store.ts'
export { seqAtTime } from '../ledger/store/list.ts'
export { verifyDatabase } from '../ledger/verify/database.ts'
export { FirstErrors } from '../ledger/verify/first-errors.ts'
