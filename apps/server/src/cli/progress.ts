import type { Io } from './io.ts'

/** Reports the progress of long work. */
export interface Progress {
  update(done: number): void
  /** Removes the line before the result. */
  end(): void
}

const TERMINAL_MS = 100
const PLAIN_MS = 10_000

/**
 * `label` formats the line, as in `verified … entries`. One updated line on a terminal; otherwise a
 * plain line every ten seconds, so that logs remain short.
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
