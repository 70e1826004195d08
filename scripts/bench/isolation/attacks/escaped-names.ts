import { keepSending, send } from '../attack.ts'
import type { Attack } from '../attack.ts'

const MIB = 1024 * 1024

/** Returns an object of `bytes` bytes with as many escaped names as fit: 15 bytes each. */
function manyNames(bytes: number): string {
  const names = Array.from({ length: Math.floor(bytes / 15) }, (_, i) => {
    const name = (36 ** 3 + i).toString(36).slice(-4).padStart(4, '0')
    return `"\\u0061${name}":0`
  })
  return `{${names.join(',')}}`
}

/** Names that strict parsing has to unescape and compare, in bodies of the maximum size. */
export const escapedNames: Attack = {
  async run(target, signal, count) {
    const { admin: key } = target
    const scorers = `{"scorer":"exact_match","results":[{"metadata":${manyNames(7 * MIB)}}]}`
    const names = manyNames(0.95 * MIB)
    const authorize = `{"agent_id":"a","action":"b","context":${names}}`
    const guard = `{"content":"a","names":${names}}`
    await Promise.all([
      keepSending(
        1,
        signal,
        () => send(target, { path: '/v1/scorers', key, body: scorers, signal }),
        count,
      ),
      keepSending(
        20,
        signal,
        (turn) =>
          turn % 2 === 0
            ? send(target, { path: '/v1/authorize', key, body: authorize, signal })
            : send(target, { path: '/v1/guard', key, body: guard, signal }),
        count,
      ),
    ])
  },
}
