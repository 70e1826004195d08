import type { VerifyReport } from '@remit/core'
import type { ChainFacts, CheckpointMismatch } from '../facts/index.ts'
import type { ReportsCheck } from '../worker/jobs.ts'
import type { PeriodEnd } from './period-end.ts'

type LedgerError = VerifyReport['errors'][number]

/** What is wrong with a checkpoint, or with what it says of the entries. */
const OF_CHECKPOINTS: ReadonlySet<string> = new Set([
  'malformed_checkpoint',
  'checkpoint_origin',
  'checkpoint_signature',
  'checkpoint_root',
  'checkpoint_missing',
  'unsigned_tail',
  'untrusted_key',
  'truncated',
])

/**
 * What a verification of the whole ledger says about a period. Errors of after its end are left out:
 * what happens later must not change what is said of it. An error whose place is not known for certain
 * counts wherever it may lie.
 */
export function chainFactsOf(
  ledger: VerifyReport,
  reports: ReportsCheck,
  end: PeriodEnd,
  checkpoints: number,
): ChainFacts {
  const concerning = ledger.errors.filter((error) => concerns(error, ledger, end))
  const inChain = concerning.find(({ code }) => !OF_CHECKPOINTS.has(code))
  const mismatches = [
    ...concerning
      .filter(({ code }) => OF_CHECKPOINTS.has(code))
      .map(({ seq }) => ({ seq, keptBy: 'the ledger' })),
    ...reports.errors
      .filter(({ seq, code }) => isAboutTheLedger(code) && isWithin(seq, end))
      .map(({ seq, reportId }) => ({ seq, keptBy: reportId })),
  ]
  return {
    verifiedFromSeq: ledger.checked.entries === 0 ? null : ledger.checked.from_seq,
    firstBadSeq: inChain?.seq ?? null,
    hashAtLast: end.hashAtLast,
    gaps: end.gaps,
    regressions: end.regressions,
    checkpoints,
    mismatches: mismatches.toSorted(bySeq),
  }
}

const isAboutTheLedger = (code: string): boolean =>
  code === 'report_unrecorded' || code === 'report_checkpoint'

/** Whether an entry that should be there and is not, or is another, may be of the period. */
const isWithin = (seq: number, { lastSeq, isClosed }: PeriodEnd): boolean =>
  !isClosed || seq <= lastSeq + 1

function concerns({ seq, code }: LedgerError, ledger: VerifyReport, end: PeriodEnd): boolean {
  // Nobody vouches for anything.
  if (code === 'untrusted_key') return true
  // What a wrong root was computed from lies somewhere between the last right one and it.
  if (code === 'checkpoint_root') return ledger.agreed_to < end.lastSeq || !end.isClosed
  if (code === 'gap' || code === 'truncated') return isWithin(seq, end)
  return !end.isClosed || seq <= end.lastSeq
}

const bySeq = (a: CheckpointMismatch, b: CheckpointMismatch): number =>
  a.seq - b.seq || (a.keptBy < b.keptBy ? -1 : a.keptBy > b.keptBy ? 1 : 0)
