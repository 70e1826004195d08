import type { Order } from './prompt.ts'
import type { Vote } from './vote.ts'

const WIN: Vote = { label: 'win', score: 1 }
const TIE: Vote = { label: 'tie', score: 0.5 }
const LOSS: Vote = { label: 'loss', score: 0 }

/** What the label of an answer means for the output, which stood first or second. */
export function standing(choice: string, order: Order): Vote {
  if (choice === 'tie') return TIE
  return (choice === 'A') === (order === 'output_first') ? WIN : LOSS
}

/** Both orders together: a winner that changes with its place is none. */
export function bothOrders(first: Vote, second: Vote): { vote: Vote; isConsistent: boolean } {
  if (first.label === second.label) return { vote: first, isConsistent: true }
  return { vote: { label: 'inconsistent', score: TIE.score }, isConsistent: false }
}
