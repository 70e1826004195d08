import { keepSending, send } from '../attack.ts'
import type { Attack } from '../attack.ts'

const PARALLEL = 10

/**
 * AuthZEN requests of a thousand evaluations, each of which is a decision with its entry: ten at a time,
 * each with a key of its own, since the rate is limited per key.
 */
export const evaluations: Attack = {
  async run({ url, admin }, signal, count) {
    const target = { url }
    const keys = await Promise.all(Array.from({ length: PARALLEL }, () => newKey(url, admin)))
    const body = JSON.stringify({
      subject: { type: 'user', id: 'ann' },
      action: { name: 'read' },
      evaluations: Array.from({ length: 1_000 }, (_, i) => ({
        resource: { type: 'document', id: `d-${i}` },
      })),
    })
    return keepSending(
      PARALLEL,
      signal,
      (turn) =>
        send(target, {
          path: '/access/v1/evaluations',
          key: keys[turn % PARALLEL] ?? admin,
          body,
          signal,
        }),
      count,
    )
  },
}

async function newKey(url: string, admin: string): Promise<string> {
  const response = await fetch(`${url}/v1/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${admin}` },
    body: JSON.stringify({ role: 'ingest' }),
  })
  const { secret } = (await response.json()) as { secret: string }
  return secret
}
