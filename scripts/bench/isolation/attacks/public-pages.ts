import { keepSending, send } from '../attack.ts'
import type { Attack } from '../attack.ts'

const PATHS = ['/metrics', '/openapi.json', '/docs', '/docs/openapi-explorer.js']

/** The pages that need no key. */
export const publicPages: Attack = {
  run(target, signal, count) {
    return keepSending(
      50,
      signal,
      (turn) => send(target, { method: 'GET', path: PATHS[turn % PATHS.length] ?? '', signal }),
      count,
    )
  },
}
