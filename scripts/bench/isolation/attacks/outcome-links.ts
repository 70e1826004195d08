import { keepSending, send } from '../attack.ts'
import type { Attack } from '../attack.ts'
import { decisionId } from './searches.ts'

/** Outcomes of decisions that the server has to look for and does not find. */
export const outcomeLinks: Attack = {
  run(target, signal, count) {
    const { admin: key } = target
    return keepSending(
      100,
      signal,
      (turn) =>
        send(target, {
          path: '/v1/ledger',
          key,
          body: { action: 'done', decision_id: decisionId(turn), outcome: 'success' },
          signal,
        }),
      count,
    )
  },
}
