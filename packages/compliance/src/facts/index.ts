import type { FactFold, FactsQuery } from './facts.ts'
import { Fold } from './fold.ts'
import type { FoldOptions } from './fold.ts'

export const createFold = (question: FactsQuery, options?: FoldOptions): FactFold =>
  new Fold(question, options)

export { DECIDED, FactEntry } from './entry.ts'
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
