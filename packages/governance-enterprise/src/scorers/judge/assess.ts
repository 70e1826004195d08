import { Unscorable } from '@remit/core'
import type { ScoreOutcome } from '@remit/core'
import type { JudgeFailure } from './failure.ts'

import type { AnswerOrder } from './prompt.ts'
import type { JudgeTask } from './params.ts'
import type { Pick, JudgeVerdict } from './verdict.ts'
import { bothOrders, combine, isQuorum, standing, weightedMean } from './vote.ts'
import type { VoteResult, SampleVote } from './vote.ts'

/** The result of one call of a sample. */
export type CallOutcome =
  | {
      readonly order: AnswerOrder
      readonly verdict: JudgeVerdict
      /** Zero for a cached verdict. */
      readonly attempt: number
      readonly latencyMs: number
      readonly isCached: boolean
    }
  | { readonly order: AnswerOrder; readonly failure: JudgeFailure }

type Success = Extract<CallOutcome, { verdict: JudgeVerdict }>

/** The votes of one sample, one per question, or its failure. */
type Sample =
  | { readonly votes: readonly SampleVote[]; readonly isConsistent: boolean | null }
  | { readonly failure: JudgeFailure }

/** Combines all samples of a result. Pure; `facts` are added to the metadata. */
export function assess(
  task: JudgeTask,
  samples: readonly (readonly CallOutcome[])[],
  facts: Readonly<Record<string, unknown>>,
): ScoreOutcome | Unscorable {
  const results = samples.map((calls) => sampleOf(task, calls))
  const valid = results.flatMap((sample) => ('votes' in sample ? [sample] : []))
  const metadata = {
    ...facts,
    samples: samples.flatMap((calls) => calls.map((call) => shown(task, call))),
  }
  if (!isQuorum(valid.length, samples.length)) return noQuorum(results, metadata)
  const questions = task.questions.map(({ name, weight }, i) => {
    const votes = valid.flatMap(({ votes: all }) => all[i] ?? [])
    return { name, weight, result: combine(votes, task.aggregation) }
  })
  const consistent = valid.flatMap(({ isConsistent }) => isConsistent ?? [])
  const [only] = questions
  const single = questions.length === 1 && only?.name === null ? only.result : null
  return {
    score: weightedMean(questions.map(({ weight, result }) => ({ weight, score: result.score }))),
    reason: single
      ? reasonOf(task, single, valid.length)
      : `the weighted mean of ${questions.length} criteria`,
    metadata: {
      ...(single
        ? votesOf(single)
        : {
            criteria: Object.fromEntries(
              questions.map(({ name, result }) => [
                name,
                { score: result.score, ...votesOf(result) },
              ]),
            ),
          }),
      ...(consistent.length > 0 && { position_consistent: consistent.every(Boolean) }),
      ...metadata,
    },
  }
}

function sampleOf(task: JudgeTask, calls: readonly CallOutcome[]): Sample {
  const failed = calls.find((call) => 'failure' in call)
  if (failed) return { failure: failed.failure }
  const [first, second] = calls as readonly Success[]
  const [choice = ''] = first?.verdict.map((pick) => pick.choice) ?? []
  if (task.mode !== 'pairwise') {
    const votes = (first?.verdict ?? []).map((pick) => ({
      label: pick.choice,
      score: task.choices.get(pick.choice) ?? 0,
    }))
    return { votes, isConsistent: null }
  }
  const one = standing(choice, first?.order ?? null)
  if (!second) return { votes: [one], isConsistent: null }
  const { vote, isConsistent } = bothOrders(
    one,
    standing(second.verdict[0]?.choice ?? '', second.order),
  )
  return { votes: [vote], isConsistent }
}

/** Reports the most frequent failure. */
function noQuorum(
  results: readonly Sample[],
  metadata: Readonly<Record<string, unknown>>,
): Unscorable {
  const failures = results.flatMap((sample) => ('failure' in sample ? [sample.failure] : []))
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
function shown({ questions }: JudgeTask, call: CallOutcome): Readonly<Record<string, unknown>> {
  const order = call.order === null ? {} : { order: call.order }
  if ('failure' in call) return { ...order, error: call.failure.code }
  const { verdict, attempt, latencyMs, isCached } = call
  const [first] = verdict
  const picks = questions[0]?.name === null ? first : { criteria: namedPicks(questions, verdict) }
  return { ...order, ...picks, latency_ms: latencyMs, attempt, cached: isCached }
}

const namedPicks = (
  questions: JudgeTask['questions'],
  verdict: JudgeVerdict,
): Record<string, Pick> =>
  Object.fromEntries(
    questions.flatMap(({ name }, i) => {
      const pick = verdict[i]
      return name === null || !pick ? [] : [[name, pick]]
    }),
  )
