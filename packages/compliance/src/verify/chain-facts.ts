import type { VerifyReport } from '@remit/core/ledger/records'
import type { LedgerEntryRow } from '@remit/core/db'
import type { ChainFacts, CheckpointMismatch } from '../facts/index.ts'
import type { ReportsCheck } from '../jobs/jobs.ts'

type LedgerError = VerifyReport['errors'][number]

/** Errors of checkpoints. */
const OF_CHECKPOINTS: ReadonlySet<string> = new Set([
  'malformed_checkpoint',
  'checkpoint_origin',
  'checkpoint_signature',
  'checkpoint_root',
  'checkpoint_witness',
  'checkpoint_missing',
  'unsigned_tail',
  'untrusted_key',
  'truncated',
])

/** Errors that make everything uncertain, whatever entry they name. */
const OF_EVERYTHING: ReadonlySet<string> = new Set(['untrusted_key', 'bad_cut', 'unrecorded_cut'])

/** The inputs of a report besides the verification. */
export interface ReportInputs {
  readonly end: PeriodEnd
  /** The last entry that records a pruning; -1 if none. */
  readonly carriedTo: number
  /** Milliseconds from which the record is complete; null if none was pruned. */
  readonly keptFrom: number | null
  /** Checkpoints and reports kept of it. */
  readonly checkpoints: number
}

/**
 * Restricts a verification of the whole ledger to a period. Errors after its end are ignored, since
 * later events must not change it. Carried-over content counts as the pruned entries' own, wherever
 * it is, and an error with an uncertain position counts wherever it may be. The end of the period
 * is only certain if the key signed it: an entry could be moved out of the period, or one could be
 * forged that appears to close it.
 */
export function chainFactsOf(
  ledger: VerifyReport,
  reports: ReportsCheck,
  { end, carriedTo, keptFrom, checkpoints }: ReportInputs,
): ChainFacts {
  const { closedBy } = end
  const reach = {
    end,
    carriedTo,
    lastSeq: Math.max(end.lastSeq, carriedTo),
    isCertain: closedBy !== null && Math.max(closedBy, carriedTo) <= ledger.agreed_to,
  }
  // The first error of each code is always listed.
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

/** Returns whether a missing or modified entry may belong to the period. */
const isWithin = (seq: number, { lastSeq, closedBy }: PeriodEnd): boolean =>
  closedBy === null || seq <= lastSeq + 1

interface Reach extends Pick<ReportInputs, 'end' | 'carriedTo'> {
  /** The last entry that the facts depend on. */
  readonly lastSeq: number
  /** A checkpoint with a valid signature agrees with it and with the entry that ends the period. */
  readonly isCertain: boolean
}

function concerns(
  { seq, code }: LedgerError,
  { end, carriedTo, lastSeq, isCertain }: Reach,
): boolean {
  if (OF_EVERYTHING.has(code) || !isCertain) return true
  // The entries behind a wrong root follow the last valid one.
  if (code === 'checkpoint_root') return false
  if (code === 'gap' || code === 'truncated') return seq <= carriedTo || isWithin(seq, end)
  return seq <= lastSeq
}

const bySeq = (a: { readonly seq: number }, b: { readonly seq: number }): number => a.seq - b.seq

const byPlace = (a: CheckpointMismatch, b: CheckpointMismatch): number =>
  a.seq - b.seq || (a.keptBy < b.keptBy ? -1 : a.keptBy > b.keptBy ? 1 : 0)

/** Follows the entries to the end of a period and finds its last entry. */
export class PeriodEnd {
  readonly #to: string
  /** The last entry before the end of the period; -1 and null without one. */
  lastSeq = -1
  hashAtLast: string | null = null
  gaps = 0
  regressions = 0
  /**
   * The first entry after the end; nothing of the period can be missing behind it. Null without
   * one.
   */
  closedBy: number | null = null
  #next: number | null = null
  #time = ''

  constructor(to: number) {
    this.#to = new Date(to).toISOString()
  }

  entry({ seq, recorded_at: time, hash }: LedgerEntryRow): void {
    if (time >= this.#to) {
      this.closedBy ??= seq
      return
    }
    if (this.#next !== null && seq !== this.#next) this.gaps += 1
    if (time < this.#time) this.regressions += 1
    this.#next = seq + 1
    this.#time = time
    this.lastSeq = seq
    this.hashAtLast = hash
  }
}
