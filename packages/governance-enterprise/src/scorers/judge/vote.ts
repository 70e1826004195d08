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
  const counted = {
    majority: leading.flatMap(([, [one]]) => one ?? []),
    mean: votes,
    median: middleOf(votes),
  }
  const isTie = leading.length > 1
  return {
    score: weightedMean(counted[aggregation]),
    /** The label with the most votes; null for a tie. */
    choice: isTie ? null : (leading[0]?.[0] ?? null),
    votes: Object.fromEntries(groups.map(([label, { length }]) => [label, length])),
    /** The share of the votes for the leading label. */
    agreement: most / votes.length,
    ...(isTie && { tie: true }),
  }
}

/** The middle one or two votes, whose mean is the median. */
function middleOf(votes: readonly SampleVote[]): readonly SampleVote[] {
  const sorted = votes.toSorted((a, b) => a.score - b.score)
  return sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1)
}

export type VoteResult = Omit<ReturnType<typeof combine>, 'score'>

/** The mean of criteria or votes; each weighs 1 by default. */
export function weightedMean(
  parts: readonly { readonly score: number; readonly weight?: number }[],
): number {
  const total = parts.reduce((sum, { weight = 1 }) => sum + weight, 0)
  return parts.reduce((sum, { score, weight = 1 }) => sum + score * weight, 0) / total
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
