export * from './authorize/agent-facts.ts'
export type { Decided, Prepared } from './authorize/decide.ts'
export * from './authorize/decider.ts'
export type { Preview, PreviewOptions, PreviewStep } from './authorize/preview.ts'
export * from './authorize/recorded.ts'
export { resourceText } from './authorize/resource.ts'
export { SLOTS } from './authorize/slots.ts'
export type { Slot } from './authorize/slots.ts'
export type {
  Ask,
  UnverifiedFacts,
  Overlay,
  Pass,
  Settled,
  Stage,
  StageVerdict,
} from './authorize/stage.ts'
export * from './base/clock.ts'
export { DECISION_MS, DecisionMeter } from './computing/meter.ts'
export type { Meter } from './computing/meter.ts'
export { isUnavailable, unavailable } from './db/failure.ts'
export { hasPersistentSessions } from './db/persistent-sessions.ts'
export { migrate, pendingMigrations } from './db/migrate.ts'
export type { MigrationSet } from './db/migrate.ts'
export * from './db/open.ts'
export { pollingSignals } from './db/polling-signals.ts'
export { bulkInsert, column, dialectOf, on, statement, writeRows } from './db/portable.ts'
export type { AnyDatabase, BulkInsert, Dialect } from './db/portable.ts'
export * from './db/postgres-signals.ts'
export type {
  CoreTables,
  IngestKeyRow,
  LedgerCheckpointRow,
  LedgerEntryRow,
  LedgerHeadRow,
  OrganizationRow,
} from './db/schema.ts'
export { localSignals } from './db/signals.ts'
export type { Signal, Signals } from './db/signals.ts'
export { makeDurable } from './db/transaction-settings.ts'
export * from './base/errors.ts'
export { fieldErrors } from './base/field-errors.ts'
export type { GuardCheckMade, GuardChecks } from './guard/checked.ts'
export { checkContent } from './guard/guard.ts'
export { FAIL_CLOSED } from './guard/external-model.ts'
export * from './caller/caller.ts'
export { actAs, isOwn, ownAgent, refuseAgents } from './caller/own-agent.ts'
export * from './http/reply.ts'
export { AlreadyAnswered } from './idempotency/claim.ts'
export type { IdempotencyClaim } from './idempotency/claim.ts'
export { randomIds } from './base/ids.ts'
export type { Ids } from './base/ids.ts'
export { Authenticator } from './keys/authenticator.ts'
export { keyCreation, keyRevocation, keyRotation } from './keys/changes.ts'
export type { EndedKey, IssuedKey } from './keys/changes.ts'
export * from './keys/key-text.ts'
export { findHolders, hasOtherAdmin, findKeyOrganization, listKeys } from './keys/store.ts'
export type { KeyHolder, KeyRecord } from './keys/store.ts'
export { canonicalJson } from './json/canonical-json.ts'
export { parseStrictJson, StrictJsonError } from './json/strict-json.ts'
export * from './caller/caller.ts'
export { hashFromBase64 } from './ledger/format/base64.ts'
export {
  CheckpointError,
  openCheckpoint,
  readCheckpoint,
  sizeOfNote,
} from './ledger/format/checkpoint.ts'
export type { Checkpoint } from './ledger/format/checkpoint.ts'
export type * from './ledger/format/draft.ts'
export { parseCarried } from './ledger/format/carried.ts'
export type { CarriedEntry, CarriedHeader } from './ledger/format/carried.ts'
export { NOT_CARRIED } from './ledger/write/carry-selection.ts'
export { findCut } from './ledger/store/cut.ts'
export type { StoredEntry } from './ledger/format/entry.ts'
export type { Eraser } from './ledger/write/eraser.ts'
export { exportLines } from './ledger/read/export-lines.ts'
export type { ExportHeader } from './ledger/read/export-lines.ts'
export { verifyExport } from './ledger/verify/export.ts'
export { isSignedByAny, parseExternalCheckpoint } from './ledger/verify/external-checkpoint.ts'
export type { ExternalCheckpoint } from './ledger/verify/external-checkpoint.ts'
export * from './ledger/read/ledger.ts'
export { NoteError, parseVerifierKey } from './ledger/format/note.ts'
export { verifyConsistency } from './ledger/format/proof-check.ts'
export * from './ledger/format/signing-key.ts'
export { verifyDatabase } from './ledger/verify/database.ts'
export type { VerifyReport } from './ledger/verify/database-report.ts'
export { noEntry } from './ledger/read/refusals.ts'
export * from './ledger/read/wire.ts'
export { LATER, answering, firstOf, toClientError } from './ledger/write/work.ts'
export type {
  Change,
  EntryObserver,
  Item,
  Lane,
  LaneResult,
  LinkedEntry,
  Outcome,
  Recorded,
  Requester,
  WriteContext,
} from './ledger/write/work.ts'
export * from './ledger/write/writer.ts'
export type { ConsoleFiles, ConsolePage, PageRequest } from './http/console.ts'
export { CONSOLE_HEADERS, messagePage } from './http/console-page.ts'
export * from './http/implement.ts'
export * from './module/module.ts'
export * from './module/setting-error.ts'
export type * from './module/ports.ts'
export * from './net/bounded-text.ts'
export * from './net/outbound-deadlines.ts'
export * from './net/outbound.ts'
export * from './orgs/administration.ts'
export { eraseEntries } from './orgs/erase-entries.ts'
export type { Erasure } from './orgs/erase-entries.ts'
export * from './orgs/keyless.ts'
export * from './orgs/organizations.ts'
export * from './orgs/record.ts'
export * from './orgs/prune/index.ts'
export * from './orgs/recover-ledger.ts'
export { settingsWarnings } from './orgs/retention.ts'
export * from './orgs/rotate-ledger-key.ts'
export { consolePlace, isLoopback } from './sessions/place.ts'
export { readCookie, writeCookie } from './sessions/cookie.ts'
export type { ConsolePlace } from './sessions/place.ts'
export type { PeopleSessions } from './sessions/people.ts'
export type { Sessions, SessionSettings } from './sessions/sessions.ts'
export { endSessionsOf } from './sessions/store.ts'
export { SETTING_NAMES, settingFromText, settingsOf } from './orgs/settings.ts'
export { createSecretFile } from './secrets/secret-file.ts'
export * from './secrets/secret-box.ts'
export { builtInScorers } from './scorers/catalogue.ts'
export { compilePattern } from './scorers/pattern.ts'
export type { Pattern } from './scorers/pattern.ts'
export type { FinishedRun, ScorerRuns } from './scorers/finished.ts'
export { runScorer } from './scorers/run.ts'
export * from './scorers/scorer.ts'
export { sliced } from './computing/slices.ts'
export { MAX_CACHED_ORGS, upTo } from './base/limits.ts'
export * from './server.ts'
export * from './threads/thread.ts'
export * from './threads/turns.ts'
export { invalidCursor, pageOf } from './base/page.ts'
export type { Page } from './base/page.ts'
export { Periodic } from './base/periodic.ts'
export { deleteInBatches } from './db/delete-in-batches.ts'
export { orgTable } from './db/org-table.ts'
export type { ListOptions } from './db/org-table.ts'
export * from './base/time-cursor.ts'
export * from './base/wildcard.ts'
export { asFailure, problemBody, problemResponse } from './http/problem.ts'
export { checkShape } from './base/check-shape.ts'
export { FOR_FIELD_ERRORS } from './base/issue-text.ts'
export type { Impersonations } from './caller/impersonations.ts'
export type { PublicPage } from './http/pages.ts'
export type { CredentialHolder, Credentials } from './keys/credentials.ts'
export { createChainVerifier } from './ledger/verify/chain.ts'
