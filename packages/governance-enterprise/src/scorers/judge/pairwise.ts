import type { Order } from './prompt.ts'
import type { Vote } from './vote.ts'

const WIN: Vote = { label: 'win', score: 1 }
const TIE: Vote = { label: 'tie', score: 0.5 }
const LOSS: Vote = { label: 'loss', score: 0 }

/** The meaning of a label for the output, which was first or second. */
export function standing(choice: string, order: Order): Vote {
  if (choice === 'tie') return TIE
  return (choice === 'A') === (order === 'output_first') ? WIN : LOSS
}

/** Combines both orders: a winner that depends on the order is inconsistent. */
export function bothOrders(first: Vote, second: Vote): { vote: Vote; isConsistent: boolean } {
  if (first.label === second.label) return { vote: first, isConsistent: true }
  return { vote: { label: 'inconsistent', score: TIE.score }, isConsistent: false }
}
