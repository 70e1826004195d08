import type { Judge } from './judges.ts'

export interface Criterion {
  /** Null for a criteria text that is judged as a whole. */
  readonly name: string | null
  readonly description: string
  readonly weight: number
}

/** The task of a judge: the validated parameters of a request. */
export interface JudgeTask {
  readonly judge: Judge
  readonly mode: 'rubric' | 'choices' | 'pairwise'
  readonly criteria: readonly Criterion[]
  /** The subjects of a choice: each criterion, or the whole. */
  readonly questions: readonly JudgeQuestion[]
  /** Labels with their scores, from best to worst. */
  readonly choices: ReadonlyMap<string, number>
  readonly reasoning: boolean
  readonly samples: number
  readonly aggregation: 'majority' | 'mean' | 'median'
  readonly positionSwap: boolean
  readonly referenceFree: boolean
  readonly maxOutputTokens: number
  readonly temperature: number | undefined
  readonly effort: string | undefined
  readonly timeoutMs: number
  readonly deadlineMs: number
  readonly maxRetries: number
  /** Null for no limit. */
  readonly maxCostUsd: number | null
  readonly cache: 'use' | 'refresh' | 'off'
  readonly dryRun: boolean
}

/** One label to choose. */
export interface JudgeQuestion {
  /** The name of the criterion, or null for a single question. */
  readonly name: string | null
  readonly weight: number
}
