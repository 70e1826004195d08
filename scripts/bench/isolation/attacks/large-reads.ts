import { keepSending, send, sendOk } from '../attack.ts'
import type { Attack } from '../attack.ts'

const ENTRIES = 600

/** Lists of a thousand large entries, a hundred at a time, and exports, with a read-only key. */
export const largeReads: Attack = {
  async prepare(target) {
    const body = JSON.stringify({ action: 'large', metadata: { text: 'é'.repeat(24_000) } })
    const append = () => sendOk(target, { path: '/v1/ledger', body })
    for (let done = 0; done < ENTRIES; done += 20)
      await Promise.all(Array.from({ length: 20 }, append))
  },
  run(target, signal, count) {
    const { read: key } = target
    return keepSending(
      100,
      signal,
      (turn) =>
        send(target, {
          method: 'GET',
          path: turn % 10 === 9 ? '/v1/ledger/export' : '/v1/ledger?limit=1000&order=asc',
          key,
          signal,
        }),
      count,
    )
  },
}
