export { DECIDED, FactEntry } from './entry.ts'
export type { EntryNote, PeriodFacts } from './facts.ts'
export type { Evidence } from './evidence.ts'
export type { EvidenceKind } from './evidence-sources.ts'
export type { FactRow } from './entry.ts'
export { Fold } from './fold.ts'
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
