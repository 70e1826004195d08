import { Unscorable } from '@remit/core'
import type { BatchOutcome, ScoreOutcome } from '@remit/core'
import { JudgeFailure } from './failure.ts'
import type { JudgeTask } from './params.ts'
import type { JudgeCall, JudgePlan } from './plan.ts'
import { PROMPT_VERSION } from './prompt.ts'
import type { AnswerOrder } from './prompt.ts'
import { UsageMeter } from './usage.ts'
import { bothOrders, combine, isQuorum, standing, weightedMean } from './vote.ts'
import type { SampleVote, VoteResult } from './vote.ts'

/** A stored verdict needs no call. */
const isCached = ({ verdict, meter }: JudgeCall): boolean =>
  verdict !== undefined && meter.calls === 0

/** The votes of one sample, one per label; null unless both orders were compared. */
interface Sample {
  readonly votes: readonly SampleVote[]
  readonly isConsistent: boolean | null
}

type Metadata = Readonly<Record<string, unknown>>

/** Combines all samples of a result. Pure. */
export function assess(task: JudgeTask, plan: JudgePlan): ScoreOutcome | Unscorable {
  const { samples, isInjectionSuspected } = plan
  const results = samples.map((calls) => sampleOf(task, calls))
  const valid = results.flatMap((sample) => (sample instanceof JudgeFailure ? [] : sample))
  const calls = samples.flat()
  const facts = {
    ...factsOf(task, calls),
    injection_suspected: isInjectionSuspected,
    cached: calls.every(isCached),
    samples: calls.map((call) => shown(task, call)),
  }
  if (!isQuorum(valid.length, samples.length)) return noQuorum(results, facts)
  const consistent = valid.flatMap(({ isConsistent }) => isConsistent ?? [])
  const metadata = {
    ...(consistent.length > 0 && { position_consistent: consistent.every(Boolean) }),
    ...facts,
  }
  const voteOn = (i: number) => {
    const votes = valid.flatMap((sample) => sample.votes[i] ?? [])
    return combine(votes, task.aggregation)
  }
  if (task.names.length === 0) {
    const result = voteOn(0)
    const reason = reasonOf(task, result, valid.length)
    return { score: result.score, reason, metadata: { ...votesOf(result), ...metadata } }
  }
  const parts = task.criteria.map(({ weight }, i) => ({ weight, ...voteOn(i) }))
  const criteria = byName(task, (i) => parts[i] && { score: parts[i].score, ...votesOf(parts[i]) })
  const reason = `the weighted mean of ${parts.length} criteria`
  return { score: weightedMean(parts), reason, metadata: { criteria, ...metadata } }
}

/** The summary of a batch, including failed calls. It contains no judged text. */
export function summarize(
  task: JudgeTask,
  outcomes: BatchOutcome['outcomes'],
  calls: readonly JudgeCall[],
): Metadata {
  const count = (name: string, value: boolean) =>
    outcomes.filter(({ metadata }) => metadata?.[name] === value).length
  const inconsistent = count('position_consistent', false)
  const compared = inconsistent + count('position_consistent', true)
  return {
    ...factsOf(task, calls),
    model: task.judge.model,
    mode: task.mode,
    cached_calls: calls.filter(isCached).length,
    injection_suspected: count('injection_suspected', true),
    ...(task.position_swap && {
      position_inconsistency_rate: compared === 0 ? null : inconsistent / compared,
    }),
  }
}

function factsOf({ judge }: JudgeTask, calls: readonly JudgeCall[]) {
  const total = new UsageMeter()
  for (const { meter } of calls) total.add(meter)
  return { judge: judge.alias, prompt_version: PROMPT_VERSION, ...total.report(judge.prices) }
}

function sampleOf(task: JudgeTask, calls: readonly JudgeCall[]): Sample | JudgeFailure {
  const votes: (readonly SampleVote[])[] = []
  for (const call of calls) {
    if (call.failure) return call.failure
    votes.push((call.verdict ?? []).map(({ choice }) => voteOf(task, choice, call.order)))
  }
  const [first = [], second] = votes
  if (!first[0] || !second?.[0]) return { votes: first, isConsistent: null }
  const { vote, isConsistent } = bothOrders(first[0], second[0])
  return { votes: [vote], isConsistent }
}

const voteOf = ({ mode, choices }: JudgeTask, label: string, order: AnswerOrder): SampleVote =>
  mode === 'pairwise' ? standing(label, order) : { label, score: choices.get(label) ?? 0 }

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
function shown(task: JudgeTask, call: JudgeCall): Metadata {
  const order = call.order === null ? {} : { order: call.order }
  if (call.failure) return { ...order, error: call.failure.code }
  const { verdict = [], latencyMs, meter } = call
  const picks = task.names.length === 0 ? verdict[0] : { criteria: byName(task, (i) => verdict[i]) }
  return { ...order, ...picks, latency_ms: latencyMs, attempt: meter.calls, cached: isCached(call) }
}

/** Values of the named criteria, by name. */
const byName = ({ names }: JudgeTask, valueOf: (i: number) => unknown): Metadata =>
  Object.fromEntries(names.map((name, i) => [name, valueOf(i)]))
