import { DecisionEntry } from './decision-entry.ts'
import type { FactEntry, FactRow } from './entry.ts'
import type { FactFold, FactsQuery } from './facts.ts'
import { Fold } from './fold.ts'
import type { FoldOptions } from './fold.ts'
import type { Interner } from './meter.ts'
import { DECIDED, LazyEntry } from './lazy-entry.ts'

export const createFold = (question: FactsQuery, options?: FoldOptions): FactFold =>
  new Fold(question, options)

/** Returns a decision, read without its context; null for every other entry and when erased. */
export function decisionEntry(row: FactRow, names: Interner): FactEntry | null {
  if (row.kind !== DECIDED || row.payload === null) return null
  const time = Date.parse(row.recorded_at)
  return DecisionEntry.of(row, time, names) ?? new LazyEntry(row, time)
}

export type { FactEntry } from './entry.ts'
export { Interner } from './meter.ts'
export type { EntryNote, FactFold, PeriodFacts } from './facts.ts'
export type { Evidence } from './evidence.ts'
export type { EvidenceKind } from './evidence.ts'
export type { FactRow } from './entry.ts'
export type { FoldOptions } from './fold.ts'
export type { CheckFailure, Metric, CheckOutcome } from './meter.ts'
export type {
  ChainFacts,
  CheckpointMismatch,
  ExternalFacts,
  RecordedReport,
} from './external-facts.ts'
export { reportQueryOf } from './facts.ts'
export type { FactsQuery } from './facts.ts'
export { SeqGatherer } from './seqs.ts'
export type { SeqRun } from './seqs.ts'
export { noteOf, seqsIn } from './entry-notes.ts'
export { RULES_VERSION } from './thresholds.ts'
