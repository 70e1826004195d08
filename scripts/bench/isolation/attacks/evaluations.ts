import { keepSending, send } from '../attack.ts'
import type { Attack } from '../attack.ts'

/** AuthZEN requests of a thousand evaluations, each of which is a decision with its entry. */
export const evaluations: Attack = {
  run(target, signal, count) {
    const { admin: key } = target
    const body = JSON.stringify({
      subject: { type: 'user', id: 'ann' },
      action: { name: 'read' },
      evaluations: Array.from({ length: 1_000 }, (_, i) => ({
        resource: { type: 'document', id: `d-${i}` },
      })),
    })
    return keepSending(
      20,
      signal,
      () => send(target, { path: '/access/v1/evaluations', key, body, signal }),
      count,
    )
  },
}
