import type { FactFold } from './facts.ts'
import { Fold } from './fold.ts'
import type { FoldOptions } from './fold.ts'
import type { Question } from './question.ts'

export const createFold = (question: Question, options?: FoldOptions): FactFold =>
  new Fold(question, options)

export type { FactFold, Facts } from './facts.ts'
export type { Evidence, Idle } from './evidence.ts'
export { EVIDENCE_KINDS } from './evidence-kinds.ts'
export type { EvidenceKind } from './evidence-kinds.ts'
export type { FactEntry, FactRow } from './entry.ts'
export type { FoldOptions } from './fold.ts'
export type { Failure, Measured, Meter, Metric, Outcome } from './meter.ts'
export type { ChainFacts, CheckpointMismatch, Outside, RecordedReport } from './outside.ts'
export { questionOf } from './question.ts'
export type { Question } from './question.ts'
export { SeqPage } from './seqs.ts'
export { RULES_VERSION, THRESHOLDS, isRelaxed } from './thresholds.ts'
