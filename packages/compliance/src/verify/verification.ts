import type { LedgerVerification } from '@remit/contract'
import type { LedgerCheck } from '../jobs/jobs.ts'

/** The result of a verification before it is recorded. */
export type Verification = Omit<LedgerVerification, 'recorded' | 'not_recorded' | 'ledger'>

const SHOWN_ERRORS = 100

/** The ledger and its reports as one verdict: a report that differs from its record is a failure. */
export function verificationOf({
  ledger,
  reports,
  anchors,
  durationMs,
}: LedgerCheck): Verification {
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
