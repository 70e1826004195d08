import type { VerifyReport } from '@remit/core'
import type { ChainFacts, CheckpointMismatch } from '../facts/index.ts'
import type { ReportsCheck } from '../jobs/jobs.ts'
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

/** Errors that leave open whether anything can be believed, whatever entry they show at. */
const OF_EVERYTHING: ReadonlySet<string> = new Set(['untrusted_key', 'bad_cut', 'unrecorded_cut'])

/** What a report is made from, beside the verification. */
export interface ReadFrom {
  readonly end: PeriodEnd
  /** The last entry that tells of what was pruned; -1 where nothing was. */
  readonly carriedTo: number
  /** Milliseconds from which on the record is whole; null where nothing was pruned. */
  readonly keptFrom: number | null
  /** Checkpoints and reports that were kept of it. */
  readonly checkpoints: number
}

/**
 * What a verification of the whole ledger says about a period. Errors of after its end are left out:
 * what happens later must not change what is said of it. But what was carried over of pruned entries
 * counts as theirs, wherever it stands, and an error whose place is not known for certain counts
 * wherever it may lie. Where the period ends is only certain when the key signed it: anybody can move an
 * entry out of it, or write one that seems to close it.
 */
export function chainFactsOf(
  ledger: VerifyReport,
  reports: ReportsCheck,
  { end, carriedTo, keptFrom, checkpoints }: ReadFrom,
): ChainFacts {
  const { closedBy } = end
  const reach = {
    end,
    carriedTo,
    lastSeq: Math.max(end.lastSeq, carriedTo),
    isCertain: closedBy !== null && Math.max(closedBy, carriedTo) <= ledger.agreed_to,
  }
  // The first of each code are always there, however many errors there are.
  const errors = [...new Set([...ledger.errors, ...ledger.first_errors])].toSorted(bySeq)
  const concerning = errors.filter((error) => concerns(error, reach))
  const inChain = concerning.find(({ code }) => !OF_CHECKPOINTS.has(code))
  const mismatches = [
    ...concerning
      .filter(({ code }) => OF_CHECKPOINTS.has(code))
      .map(({ seq }) => ({ seq, keptBy: 'the ledger' })),
    ...[...new Set([...reports.errors, ...reports.first_errors])]
      .filter(({ seq, code }) => isAboutTheLedger(code) && isWithin(seq, end))
      .map(({ seq, reportId }) => ({ seq, keptBy: reportId })),
  ]
  return {
    verifiedFromSeq: ledger.checked.entries === 0 ? null : ledger.checked.from_seq,
    keptFrom,
    firstBadSeq: inChain?.seq ?? null,
    hashAtLast: end.hashAtLast,
    gaps: end.gaps,
    regressions: end.regressions,
    checkpoints,
    mismatches: mismatches.toSorted(byPlace),
  }
}

const isAboutTheLedger = (code: string): boolean =>
  code === 'report_unrecorded' || code === 'report_checkpoint'

/** Whether an entry that should be there and is not, or is another, may be of the period. */
const isWithin = (seq: number, { lastSeq, closedBy }: PeriodEnd): boolean =>
  closedBy === null || seq <= lastSeq + 1

interface Reach extends Pick<ReadFrom, 'end' | 'carriedTo'> {
  /** The last entry that anything is made from. */
  readonly lastSeq: number
  /** A checkpoint agrees whose signature is good, with it and with the entry that ends the period. */
  readonly isCertain: boolean
}

function concerns(
  { seq, code }: LedgerError,
  { end, carriedTo, lastSeq, isCertain }: Reach,
): boolean {
  if (OF_EVERYTHING.has(code) || !isCertain) return true
  // What a wrong root was computed from lies behind the last right one.
  if (code === 'checkpoint_root') return false
  if (code === 'gap' || code === 'truncated') return seq <= carriedTo || isWithin(seq, end)
  return seq <= lastSeq
}

const bySeq = (a: { readonly seq: number }, b: { readonly seq: number }): number => a.seq - b.seq

const byPlace = (a: CheckpointMismatch, b: CheckpointMismatch): number =>
  a.seq - b.seq || (a.keptBy < b.keptBy ? -1 : a.keptBy > b.keptBy ? 1 : 0)
