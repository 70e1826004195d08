import type { Judge } from './judges.ts'

export interface Criterion {
  /** Null for a text of criteria that is judged as a whole. */
  readonly name: string | null
  readonly description: string
  readonly weight: number
}

/** What a judge is to do with every result: the parameters of a request, checked and completed. */
export interface Task {
  readonly judge: Judge
  readonly mode: 'rubric' | 'choices' | 'pairwise'
  readonly criteria: readonly Criterion[]
  /** What the judge picks for: each of the criteria, or the whole. */
  readonly questions: readonly Question[]
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

/** One label to pick. */
export interface Question {
  /** The criterion's name, or null where there is one question only. */
  readonly name: string | null
  readonly weight: number
}
