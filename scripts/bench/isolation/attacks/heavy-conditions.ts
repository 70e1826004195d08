import { keepSending, send, sendOk } from '../attack.ts'
import type { Attack, Target } from '../attack.ts'

const LOOP = 'context.many.exists(x, !(x in context.many))'
const SEARCH = 'context.text.matches("(a|aa|aaa)+(b|bb|bbb)+c")'
const MADE = 'context.many.map(x, "%.9f".format([x])).join("").size() == 1'

/** Stores rules of every stage with conditions that never match. */
export async function storeHeavyRules(target: Target): Promise<void> {
  for (const condition of [LOOP, SEARCH, MADE])
    await sendOk(target, { path: '/v1/policies', body: { effect: 'deny', condition } })
  await sendOk(target, { path: '/v1/approval-rules/heavy', body: { condition: LOOP } })
  await sendOk(target, {
    path: '/v1/delegation/permissions/heavy',
    body: { agent_id: 'heavy', effect: 'deny', condition: LOOP },
  })
}

const CONTEXT = {
  many: Array.from({ length: 900 }, (_, i) => i),
  text: 'a'.repeat(30_000),
}

/** A request for which the heavy rules use their full time limit. */
export const heavyRequest = (turn: number) => ({
  // Permissions are for one agent: for the others policies come first.
  agent_id: turn % 2 === 0 ? 'heavy' : 'other',
  action: 'heavy.action',
  context: CONTEXT,
})

/** 300 concurrent decisions, each of which uses the full computing time. */
export const heavyConditions: Attack = {
  prepare: storeHeavyRules,
  run(target, signal, count) {
    const { admin: key } = target
    const bodies = [0, 1].map((turn) => JSON.stringify(heavyRequest(turn)))
    return keepSending(
      300,
      signal,
      (turn) => send(target, { path: '/v1/authorize', key, body: bodies[turn % 2] ?? '', signal }),
      count,
    )
  },
}
