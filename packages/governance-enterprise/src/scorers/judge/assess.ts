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
  const answers: { readonly order: AnswerOrder; readonly verdict: JudgeVerdict }[] = []
  for (const call of calls) {
    if ('failure' in call) return call.failure
    answers.push(call)
  }
  if (task.mode !== 'pairwise') {
    const votes = answers[0]?.verdict.map(({ choice: label }) => ({
      label,
      score: task.choices.get(label) ?? 0,
    }))
    return { votes: votes ?? [], isConsistent: null }
  }
  const [first, second] = answers.map(({ verdict, order }) =>
    standing(verdict[0]?.choice ?? '', order),
  )
  if (!first || !second) return { votes: first ? [first] : [], isConsistent: null }
  const { vote, isConsistent } = bothOrders(first, second)
  return { votes: [vote], isConsistent }
}

/** Reports the most frequent failure. */
function noQuorum(results: readonly (Sample | JudgeFailure)[], metadata: Metadata): Unscorable {
  const failures = results.flatMap((sample) => (sample instanceof JudgeFailure ? [sample] : []))
  const byCode = [...Map.groupBy(failures, ({ code }) => code).values()]
  const [failure] = byCode.toSorted((a, b) => b.length - a.length)[0] ?? []
  const answered = results.length - failures.length
  const why = failure?.message ?? 'the judge returned no verdict'
  const reason =
    results.length === 1
      ? why
      : `only ${answered} of ${results.length} samples have a verdict: ${why}`
  return new Unscorable(failure?.code ?? 'judge_unavailable', reason, { metadata })
}

const votesOf = ({ choice, votes, agreement, tie }: VoteResult) => ({
  choice,
  votes,
  agreement,
  ...(tie && { tie }),
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
