import { Unscorable } from '@remit/core'
import type { ScoreOutcome } from '@remit/core'
import { JudgeFailure } from './failure.ts'
import type { JudgeTask } from './params.ts'
import type { AnswerOrder } from './prompt.ts'
import type { UsageMeter } from './usage.ts'
import type { JudgeVerdict } from './verdict.ts'
import { bothOrders, combine, isQuorum, standing, weightedMean } from './vote.ts'
import type { SampleVote, VoteResult } from './vote.ts'

/** The result of one call of a sample. */
export type CallOutcome = {
  readonly order: AnswerOrder
  readonly meter: UsageMeter
} & (
  | { readonly verdict: JudgeVerdict; readonly latencyMs: number }
  | { readonly failure: JudgeFailure }
)

/** A stored verdict needs no call. */
export const isCached = (call: CallOutcome): boolean => 'verdict' in call && call.meter.calls === 0

/** The votes of one sample, one per question; null unless both orders were compared. */
interface Sample {
  readonly votes: readonly SampleVote[]
  readonly isConsistent: boolean | null
}

type Metadata = Readonly<Record<string, unknown>>

/** Combines all samples of a result. Pure; `facts` are added to the metadata. */
export function assess(
  task: JudgeTask,
  samples: readonly (readonly CallOutcome[])[],
  facts: Metadata,
): ScoreOutcome | Unscorable {
  const results = samples.map((calls) => sampleOf(task, calls))
  const valid = results.flatMap((sample) => (sample instanceof JudgeFailure ? [] : [sample]))
  const metadata = { ...facts, samples: samples.flat().map((call) => shown(task, call)) }
  if (!isQuorum(valid.length, samples.length)) return noQuorum(results, metadata)
  const questions = task.questions.map(({ name, weight }, i) => {
    const votes = valid.flatMap(({ votes: all }) => all[i] ?? [])
    const result = combine(votes, task.aggregation)
    return { name, weight, score: result.score, result }
  })
  const consistent = valid.flatMap(({ isConsistent }) => isConsistent ?? [])
  const [only] = questions
  const single = questions.length === 1 && only?.name === null ? only.result : null
  const votes = single
    ? votesOf(single)
    : { criteria: byName(questions, ({ score, result }) => ({ score, ...votesOf(result) })) }
  return {
    score: weightedMean(questions),
    reason: single
      ? reasonOf(task, single, valid.length)
      : `the weighted mean of ${questions.length} criteria`,
    metadata: {
      ...votes,
      ...(consistent.length > 0 && { position_consistent: consistent.every(Boolean) }),
      ...metadata,
    },
  }
}

function sampleOf(task: JudgeTask, calls: readonly CallOutcome[]): Sample | JudgeFailure {
  const votes: (readonly SampleVote[])[] = []
  for (const call of calls) {
    if ('failure' in call) return call.failure
    votes.push(
      call.verdict.map(({ choice: label }) =>
        task.mode === 'pairwise'
          ? standing(label, call.order)
          : { label, score: task.choices.get(label) ?? 0 },
      ),
    )
  }
  const [[first] = [], [second] = []] = votes
  if (!first || !second) return { votes: votes[0] ?? [], isConsistent: null }
  const { vote, isConsistent } = bothOrders(first, second)
  return { votes: [vote], isConsistent }
}

/** Reports the most frequent failure. */
function noQuorum(results: readonly (Sample | JudgeFailure)[], metadata: Metadata): Unscorable {
  const failures = results.filter((sample) => sample instanceof JudgeFailure)
  const byCode = Map.groupBy(failures, ({ code }) => code)
  const [failure] = [...byCode.values()].toSorted((a, b) => b.length - a.length)[0] ?? []
  const { code = 'judge_unavailable', message = 'the judge returned no verdict' } = failure ?? {}
  const count = `only ${results.length - failures.length} of ${results.length} samples have a verdict`
  return new Unscorable(code, results.length === 1 ? message : `${count}: ${message}`, { metadata })
}

const votesOf = ({ choice, votes, agreement }: VoteResult) => ({
  choice,
  votes,
  agreement,
  ...(choice === null && { tie: true }),
})

const SEES: Readonly<Record<string, string>> = {
  win: 'prefers the output',
  tie: 'sees no difference',
  loss: 'prefers expected',
  inconsistent: 'prefers a different answer when the order is swapped',
}

function reasonOf({ mode }: JudgeTask, { choice, votes }: VoteResult, count: number): string {
  if (choice === null) return `the ${count} samples tie`
  const says = mode === 'pairwise' ? (SEES[choice] ?? '') : `chose ${choice}`
  return count === 1
    ? `the judge ${says}`
    : `in ${votes[choice]} of ${count} samples, the judge ${says}`
}

/** A call in the metadata. */
function shown({ questions }: JudgeTask, call: CallOutcome): Metadata {
  const order = call.order === null ? {} : { order: call.order }
  if ('failure' in call) return { ...order, error: call.failure.code }
  const { verdict, latencyMs, meter } = call
  const picks =
    questions[0]?.name === null ? verdict[0] : { criteria: byName(questions, (_, i) => verdict[i]) }
  return { ...order, ...picks, latency_ms: latencyMs, attempt: meter.calls, cached: isCached(call) }
}

/** Values of the named questions, by name. */
const byName = <Q extends { readonly name: string | null }>(
  questions: readonly Q[],
  valueOf: (question: Q, i: number) => unknown,
): Metadata =>
  Object.fromEntries(questions.map((question, i) => [question.name ?? '', valueOf(question, i)]))
