import type { Io } from './io.ts'

/** Tells how far long work is. */
export interface Progress {
  update(done: number): void
  /** Takes the line away again, so that the result stands alone. */
  end(): void
}

const TERMINAL_MS = 100
const PLAIN_MS = 10_000

/**
 * `label` says what is done, as in `verified … entries`. One line that changes on a terminal;
 * elsewhere a plain line every ten seconds, so that logs stay short.
 */
export function createProgress(
  stderr: Io['stderr'],
  label: (done: string) => string,
  now: () => number = () => performance.now(),
): Progress {
  const isTerminal = stderr.isTTY === true
  let next = now() + (isTerminal ? TERMINAL_MS : PLAIN_MS)
  let shown = false
  return {
    update(done) {
      if (now() < next) return
      next = now() + (isTerminal ? TERMINAL_MS : PLAIN_MS)
      const text = label(done.toLocaleString('en'))
      stderr.write(isTerminal ? `\r\u001b[K${text}` : `${text}\n`)
      shown = true
    },
    end() {
      if (isTerminal && shown) stderr.write('\r\u001b[K')
    },
  }
}
