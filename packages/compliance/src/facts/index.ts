import type { FactFold } from './facts.ts'
import { Fold } from './fold.ts'
import type { FoldOptions } from './fold.ts'
import type { FactsQuery } from './report-query.ts'

export const createFold = (question: FactsQuery, options?: FoldOptions): FactFold =>
  new Fold(question, options)

export type { EntryNote, FactFold, PeriodFacts } from './facts.ts'
export type { Evidence } from './evidence.ts'
export type { EvidenceKind } from './evidence-kinds.ts'
export type { FactRow } from './entry.ts'
export type { FoldOptions } from './fold.ts'
export type { CheckFailure, Metric, CheckOutcome } from './meter.ts'
export type {
  ChainFacts,
  CheckpointMismatch,
  ExternalFacts,
  RecordedReport,
} from './external-facts.ts'
export { reportQueryOf } from './report-query.ts'
export type { FactsQuery } from './report-query.ts'
export { SeqGatherer } from './seq-run.ts'
export type { SeqRun } from './seq-run.ts'
export { noteOf, seqsIn } from './entry-notes.ts'
export { percentText } from './ratio.ts'
export { RULES_VERSION } from './thresholds.ts'
