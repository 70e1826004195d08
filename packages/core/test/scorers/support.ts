import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { ResultToScore, Score, ScorersAnswer } from '@remit/contract'
import { builtInScorers } from '../../src/scorers/catalogue.ts'
import { runScorer } from '../../src/scorers/run.ts'
import type { RunContext } from '../../src/scorers/run.ts'
import type { PureScorer } from '../../src/scorers/scorer.ts'

export type Params = Readonly<Record<string, unknown>>

export const context: RunContext = {
  now: () => performance.now(),
  pause: () => setImmediate(),
  caller: null,
  signal: () => new AbortController().signal,
}

export function scorerNamed(name: string): PureScorer {
  const scorer = builtInScorers.find((one) => one.name === name)
  if (!scorer) throw new Error(`there is no scorer ${name}`)
  return scorer
}

export const answerOf = (
  name: string,
  results: readonly ResultToScore[],
  params: Params = {},
  threshold?: number,
): Promise<ScorersAnswer> =>
  runScorer(
    scorerNamed(name),
    { scorer: name, params, results: [...results], ...(threshold !== undefined && { threshold }) },
    context,
  )

export async function entry(name: string, result: ResultToScore, params?: Params): Promise<Score> {
  const { scores } = await answerOf(name, [result], params)
  const [first] = scores
  if (!first) throw new Error('no entry')
  return first
}

export const score = async (
  name: string,
  result: ResultToScore,
  params?: Params,
): Promise<number | null> => (await entry(name, result, params)).score

export const code = async (
  name: string,
  result: ResultToScore,
  params?: Params,
): Promise<string | undefined> => (await entry(name, result, params)).error?.code

export interface Example {
  readonly id: string
  readonly scorer: string
  readonly params: Params
  readonly result: ResultToScore
  readonly expected_score: number | null
  readonly expected_error?: string
}

/** The project's examples: at least one a scorer, from the libraries that set the standard. */
export const examples = JSON.parse(
  readFileSync(new URL('examples.json', import.meta.url), 'utf8'),
) as Example[]
