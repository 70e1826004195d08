import type { Plan } from '@remit/contract'
import type { FactRow } from './entry.ts'
import type { Evidence } from './evidence.ts'
import type { Metric, Outcome } from './meter.ts'
import type { Outside } from './outside.ts'
import type { Question } from './question.ts'
import type { State } from './state/state.ts'

/** Where an entry leads a reader: when it was recorded, about whom, and who sent it. */
export interface EntryNote {
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string
  readonly agentId: string | null
  /** Such as `key key_1 (ada@example.org)`; null where the payload does not say. */
  readonly by: string | null
}

/** Everything that a report says about a period, as at its end. */
export interface Facts {
  readonly question: Question
  readonly organization: {
    readonly id: string
    /** Its id where no entry tells the name. */
    readonly name: string
    /** Null where no entry tells. */
    readonly plan: Plan | null
    /** Milliseconds; null where no entry tells. */
    readonly createdAt: number | null
  }
  /** The entries of the period. */
  readonly ledger: {
    readonly entries: number
    readonly firstSeq: number | null
    readonly lastSeq: number | null
    readonly byKind: Readonly<Record<string, number>>
    /** The last entry before the end of the period, in it or not. */
    readonly lastSeqBeforeEnd: number | null
  }
  /** Milliseconds before the end: of record in the period, of record altogether, of the organization. */
  readonly span: {
    readonly periodMs: number
    readonly recordMs: number
    readonly organizationMs: number
  }
  /** M01 to M50 and all checks, in the order of their ids and of the catalogue. */
  readonly metrics: readonly Metric[]
  readonly checks: readonly Outcome[]
  /** All twenty kinds. */
  readonly evidence: readonly Evidence[]
  /** The entries that the checks and samples name, as far as they are kept. */
  readonly entries: ReadonlyMap<number, EntryNote>
  /** What was found out about the chain; given from outside. */
  readonly outside: Outside
}

/** One pass over an organization's entries, in their order, with bounded memory. */
export interface FactFold {
  /**
   * An entry that was pruned and whose content `state.carried` has: what it set up stands, and whoever
   * looks back before the period sees it. It counts for nothing else. All of them in their order,
   * before the first entry.
   */
  carry(row: FactRow): void
  /** The next entry; what is dated at the end of the period or later is left alone. */
  entry(row: FactRow): void
  /** The facts. Call once, after the last entry. */
  end(outside: Outside): Facts
  /** What was set up after the entries so far. */
  readonly state: State
}
