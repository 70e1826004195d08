import type { FactFold } from './facts.ts'
import { Fold } from './fold.ts'
import type { FoldOptions } from './fold.ts'
import type { Question } from './question.ts'

export const createFold = (question: Question, options?: FoldOptions): FactFold =>
  new Fold(question, options)

export type { EntryNote, FactFold, Facts } from './facts.ts'
export type { Evidence } from './evidence.ts'
export type { EvidenceKind } from './evidence-kinds.ts'
export type { FactRow } from './entry.ts'
export type { FoldOptions } from './fold.ts'
export type { Failure, Metric, Outcome } from './meter.ts'
export type { ChainFacts, CheckpointMismatch, Outside, RecordedReport } from './outside.ts'
export { questionOf } from './question.ts'
export type { Question } from './question.ts'
export { SeqGatherer } from './seq-run.ts'
export type { SeqRun } from './seq-run.ts'
export { noteOf, seqsIn } from './entry-notes.ts'
export { percentText } from './ratio.ts'
export { RULES_VERSION } from './thresholds.ts'
