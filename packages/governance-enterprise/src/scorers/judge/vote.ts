import type { AnswerOrder } from './prompt.ts'

/** The answer of one sample to one question. */
export interface SampleVote {
  readonly label: string
  readonly score: number
}

/** The combined result of the samples. */
export interface VoteResult {
  readonly score: number
  /** The label with the most votes; null for a tie. */
  readonly choice: string | null
  readonly votes: Readonly<Record<string, number>>
  /** The share of the votes for the leading label. */
  readonly agreement: number
}

/** More than half of the samples must have answered. */
export const isQuorum = (valid: number, samples: number): boolean => valid * 2 > samples

/** The result of at least one vote. With `majority`, tied labels share their scores. */
export function combine(
  votes: readonly SampleVote[],
  aggregation: 'majority' | 'mean' | 'median',
): VoteResult {
  const byLabel = Map.groupBy(votes, ({ label }) => label)
  const most = Math.max(...[...byLabel.values()].map(({ length }) => length))
  const leading = [...byLabel.values()].filter(({ length }) => length === most)
  const scores = votes.map(({ score }) => score)
  const [first] = leading
  return {
    score:
      aggregation === 'majority'
        ? mean(leading.map(([one]) => one?.score ?? 0))
        : aggregation === 'mean'
          ? mean(scores)
          : median(scores),
    choice: leading.length === 1 ? (first?.[0]?.label ?? null) : null,
    votes: Object.fromEntries([...byLabel].map(([label, group]) => [label, group.length])),
    agreement: most / votes.length,
  }
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

/** The weighted mean of several criteria. */
export function weightedMean(
  parts: readonly { readonly score: number; readonly weight: number }[],
): number {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  return parts.reduce((sum, { score, weight }) => sum + score * weight, 0) / total
}

const TIE: SampleVote = { label: 'tie', score: 0.5 }

/** The meaning of a label for the output, which was first or second. */
export function standing(choice: string, order: AnswerOrder): SampleVote {
  if (choice === 'tie') return TIE
  const isWin = (choice === 'A') === (order === 'output_first')
  return isWin ? { label: 'win', score: 1 } : { label: 'loss', score: 0 }
}

/** Combines both orders: a winner that depends on the order is inconsistent. */
export const bothOrders = (first: SampleVote, second: SampleVote) =>
  first.label === second.label
    ? { vote: first, isConsistent: true }
    : { vote: { label: 'inconsistent', score: TIE.score }, isConsistent: false }
