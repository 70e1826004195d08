import { keepSending, send, sendOk } from '../attack.ts'
import type { Attack } from '../attack.ts'

const ENTRIES = 1_000

/** Searches of a ledger for trace and decision ids that it does not have, with a key that only reads. */
export const searches: Attack = {
  async prepare(target) {
    const body = JSON.stringify({ action: 'searched', metadata: { text: 'é'.repeat(4_000) } })
    const append = () => sendOk(target, { path: '/v1/ledger', body })
    for (let done = 0; done < ENTRIES; done += 20)
      await Promise.all(Array.from({ length: 20 }, append))
  },
  run(target, signal, count) {
    const { read: key } = target
    return keepSending(
      100,
      signal,
      (turn) => {
        const filter = turn % 2 === 0 ? `trace_id=none-${turn}` : `decision_id=${decisionId(turn)}`
        return send(target, { method: 'GET', path: `/v1/ledger?${filter}`, key, signal })
      },
      count,
    )
  },
}

/** An id of a decision that was never made, of the last minute: ULIDs begin with their time. */
export function decisionId(turn: number): string {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz'
  let time = Date.now() - (turn % 60_000)
  let text = ''
  for (let i = 0; i < 10; i++) {
    text = (digits[time % 32] ?? '0') + text
    time = Math.floor(time / 32)
  }
  return `dec_${text}${'0'.repeat(16)}`
}
