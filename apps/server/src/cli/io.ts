import type { Readable, Writable } from 'node:stream'

/** Where a command reads and writes; tests bring their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  /** Results. */
  readonly stdout: Writable
  /** Errors, progress and the log. */
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** A signal that aborts when the process is asked to end; from then on a second request kills it. */
  endSignal(): AbortSignal
}

/** Those of the process. */
export function processIo(): Io {
  // Whoever reads the output may stop before its end, as `head` does.
  process.stdout.once('error', () => process.exit(2))
  return {
    env: process.env,
    // On demand: opening it would keep a process alive that does not read.
    get stdin() {
      return process.stdin
    },
    stdout: process.stdout,
    stderr: process.stderr,
    endSignal() {
      const controller = new AbortController()
      const end = () => {
        process.off('SIGTERM', end).off('SIGINT', end)
        controller.abort()
      }
      process.on('SIGTERM', end).on('SIGINT', end)
      return controller.signal
    },
  }
}
