import type { AnswerOrder } from './prompt.ts'

/** The answer of one sample to one question. */
export interface SampleVote {
  readonly label: string
  readonly score: number
}

/** More than half of the samples must have answered. */
export const isQuorum = (valid: number, samples: number): boolean => valid * 2 > samples

/** Combines at least one vote. With `majority`, tied labels share their scores. */
export function combine(votes: readonly SampleVote[], aggregation: 'majority' | 'mean' | 'median') {
  const groups = [...Map.groupBy(votes, ({ label }) => label)]
  const most = Math.max(...groups.map(([, { length }]) => length))
  const leading = groups.filter(([, { length }]) => length === most)
  const counted = aggregation === 'majority' ? leading.flatMap(([, [one]]) => one ?? []) : votes
  const scores = counted.map(({ score }) => score)
  const isTie = leading.length > 1
  return {
    score: aggregation === 'median' ? median(scores) : mean(scores),
    /** The label with the most votes; null for a tie. */
    choice: isTie ? null : (leading[0]?.[0] ?? null),
    votes: Object.fromEntries(groups.map(([label, { length }]) => [label, length])),
    /** The share of the votes for the leading label. */
    agreement: most / votes.length,
    ...(isTie && { tie: true }),
  }
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return mean([sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0])
}

export type VoteResult = Omit<ReturnType<typeof combine>, 'score'>

/** The weighted mean of several criteria. */
export function weightedMean(
  parts: readonly { readonly score: number; readonly weight: number }[],
): number {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  return parts.reduce((sum, { score, weight }) => sum + score * weight, 0) / total
}

const TIE: SampleVote = { label: 'tie', score: 0.5 }
export const INCONSISTENT: SampleVote = { label: 'inconsistent', score: TIE.score }

/** The meaning of a label for the output, which was first or second. */
export function standing(choice: string, order: AnswerOrder): SampleVote {
  if (choice === 'tie') return TIE
  const isWin = (choice === 'A') === (order === 'output_first')
  return isWin ? { label: 'win', score: 1 } : { label: 'loss', score: 0 }
}

/** Combines both orders: a winner that depends on the order is inconsistent. */
export const bothOrders = (first: SampleVote, second: SampleVote): SampleVote =>
  first.label === second.label ? first : INCONSISTENT
