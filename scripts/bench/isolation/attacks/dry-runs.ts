import { keepSending, send } from '../attack.ts'
import type { Attack } from '../attack.ts'
import { heavyRequest, storeHeavyRules } from './heavy-conditions.ts'

/** Dry-runs of 400 requests, ten at a time, with a read-only key: with light and heavy rules. */
export const dryRuns: Attack = {
  prepare: storeHeavyRules,
  run(target, signal, count) {
    const { read: key } = target
    const light = Array.from({ length: 400 }, (_, i) => ({
      agent_id: `agent-${i}`,
      action: 'light.action',
      context: { many: [1, 2, 3], text: 'a' },
    }))
    const heavy = Array.from({ length: 20 }, (_, i) => heavyRequest(i))
    const bodies = [light, heavy].map((requests) => JSON.stringify({ requests }))
    return keepSending(
      10,
      signal,
      (turn) =>
        send(target, {
          path: '/v1/compliance/policies/dry-run',
          key,
          body: bodies[turn % 4 === 3 ? 1 : 0] ?? '',
          signal,
        }),
      count,
    )
  },
}
