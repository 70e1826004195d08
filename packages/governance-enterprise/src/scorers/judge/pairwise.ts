import type { AnswerOrder } from './prompt.ts'
import type { SampleVote } from './vote.ts'

const WIN: SampleVote = { label: 'win', score: 1 }
const TIE: SampleVote = { label: 'tie', score: 0.5 }
const LOSS: SampleVote = { label: 'loss', score: 0 }

/** The meaning of a label for the output, which was first or second. */
export function standing(choice: string, order: AnswerOrder): SampleVote {
  if (choice === 'tie') return TIE
  return (choice === 'A') === (order === 'output_first') ? WIN : LOSS
}

/** Combines both orders: a winner that depends on the order is inconsistent. */
export function bothOrders(
  first: SampleVote,
  second: SampleVote,
): { vote: SampleVote; isConsistent: boolean } {
  if (first.label === second.label) return { vote: first, isConsistent: true }
  return { vote: { label: 'inconsistent', score: TIE.score }, isConsistent: false }
}
