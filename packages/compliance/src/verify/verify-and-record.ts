import type { LedgerVerification, VerifyLedgerRequest } from '@remit/contract'
import { invalid, Failure } from '@remit/core/base'
import { firstOf } from '@remit/core/ledger/lanes'
import type { WorkOrigin, Change, EntryDraft } from '@remit/core/ledger/lanes'
import { isSignedByAny, parseExternalCheckpoint } from '@remit/core/ledger/proofs'
import type { Deps } from '@remit/core/module'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { Jobs, JobWatch, LedgerCheck } from '../jobs/jobs.ts'

/** A verification request, with the caller's checkpoints. */
export interface VerificationRequest extends Omit<VerifyLedgerRequest, 'checkpoint'> {
  readonly checkpoints: readonly string[]
}

/**
 * Verifies a ledger and records the result. Throws `invalid_request` for a part beyond the end, and
 * for a checkpoint that is malformed, of another ledger, or signed by an unknown key: a mistake of
 * the caller must not be recorded as a finding.
 */
export async function verifyAndRecord(
  deps: Pick<Deps, 'ledger' | 'writer' | 'verifierKey'>,
  jobs: Jobs,
  orgId: string,
  { from_seq, to_seq, checkpoints }: VerificationRequest,
  workOrigin: WorkOrigin,
  watch: JobWatch,
): Promise<LedgerVerification> {
  const options = {
    checkpoints: checkpoints.length === 0 ? [] : await notesOf(deps, orgId, checkpoints),
    ...(from_seq !== undefined && { fromSeq: from_seq }),
    ...(to_seq !== undefined && { toSeq: to_seq }),
  }
  const found = verificationOf(await jobs.verify(orgId, options, watch))
  const isWhole = from_seq === undefined && to_seq === undefined
  return recordVerification(deps.writer, orgId, workOrigin, found, isWhole)
}

/** Parses the signed notes. The verification reports a ledger that does not record its origin. */
async function notesOf(
  { ledger, verifierKey }: Pick<Deps, 'ledger' | 'verifierKey'>,
  orgId: string,
  texts: readonly string[],
): Promise<string[]> {
  const origin = await ledger.recordedOrigin(orgId)
  const notes = texts.map((text) => noteOf(text, origin))
  if (origin === null) return notes
  const vkeys = [verifierKey(origin), ...(await ledger.namedKeys(orgId))]
  if (!notes.every((note) => isSignedByAny(note, vkeys)))
    throw invalid(
      'checkpoint',
      'is not signed by a key of this server or by a key that the ledger records: it was modified, or its key is no longer recorded; use `remit-verify` to compare it with a pinned key',
    )
  return notes
}

function noteOf(text: string, origin: string | null): string {
  const given = parseExternalCheckpoint(text)
  if (given === null)
    throw invalid(
      'checkpoint',
      'must be a signed checkpoint, as `GET /v1/ledger/checkpoint` returns it',
    )
  if (origin !== null && given.origin !== origin)
    throw invalid('checkpoint', `belongs to ${given.origin}, and this ledger is ${origin}`)
  return given.note
}

/**
 * The entry of a verification. A partial one is not `valid` there, since it does not verify the
 * ledger.
 */
function verifiedEntry(found: Verification, isWhole: boolean, caller: Caller | null): EntryDraft {
  const { valid, status, checked, first_invalid, error_count, anchored_by, gaps, head } = found
  return {
    kind: 'ledger.verified',
    actor: actorOf(caller),
    data: {
      valid: valid && isWhole,
      part: !isWhole,
      status,
      checked,
      first_invalid,
      error_count,
      anchored_by,
      truncation_checked: found.truncation_checked,
      gaps,
      checkpoints: found.checkpoints,
      reports: found.reports,
      checkpoint: head,
      ...personOf(caller),
    },
  }
}

/**
 * Records a verification and returns it. If the ledger is too broken to be written to, the result
 * says why nothing was recorded; a caller whose key ended meanwhile gets no result.
 */
async function recordVerification(
  writer: Deps['writer'],
  orgId: string,
  workOrigin: WorkOrigin,
  found: Verification,
  isWhole: boolean,
): Promise<LedgerVerification> {
  try {
    const record: Change<LedgerVerification> = (_scope, at) =>
      Promise.resolve({
        entries: [verifiedEntry(found, isWhole, at)],
        reply: (recorded) => ({
          ...found,
          recorded: true,
          not_recorded: null,
          ledger: firstOf(recorded).receipt,
        }),
      })
    return await writer.work(orgId, workOrigin, record, { evenIfForged: true })
  } catch (error) {
    if (error instanceof Failure && error.status < 500) throw error
    const why = error instanceof Failure ? error.message : 'The end of the ledger cannot be read.'
    return { ...found, recorded: false, not_recorded: why, ledger: null }
  }
}

/** The result of a verification before it is recorded. */
type Verification = Omit<LedgerVerification, 'recorded' | 'not_recorded' | 'ledger'>

const SHOWN_ERRORS = 100

/** The ledger and its reports as one verdict: a report that differs from its record is a failure. */
function verificationOf({ ledger, reports, anchors, durationMs }: LedgerCheck): Verification {
  const { status, checked, head, root, checkpoints, pruned } = ledger
  const ofReports = reports.errors.map(({ seq, code, reportId }) => ({
    seq,
    code,
    detail: reportId,
  }))
  const errors = [...ledger.errors, ...ofReports].toSorted((a, b) => a.seq - b.seq)
  const [firstOfReports] = ofReports
  const firstOfLedger = ledger.first_invalid
  const first =
    firstOfLedger && !(firstOfReports && firstOfReports.seq < firstOfLedger.seq)
      ? firstOfLedger
      : firstOfReports
  return {
    valid: status === 'ok' && reports.mismatched === 0,
    status: reports.mismatched > 0 ? 'tampered' : status,
    checked,
    head,
    root,
    anchored_by: ledger.anchored_by,
    truncation_checked: ledger.truncation_checked,
    redacted: ledger.redacted,
    pruned: [...pruned],
    first_invalid: first ? { seq: first.seq, code: first.code } : null,
    errors: errors.slice(0, SHOWN_ERRORS),
    error_count: ledger.error_count + reports.error_count,
    gaps: ledger.gaps,
    checkpoints: { ...checkpoints, outside: anchors },
    reports: { checked: reports.checked, mismatched: reports.mismatched },
    not_checked: [...ledger.not_checked],
    duration_ms: durationMs,
  }
}
