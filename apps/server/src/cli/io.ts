import type { Readable, Writable } from 'node:stream'

/** The streams of a command; tests use their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  /** Results. */
  readonly stdout: Writable
  /** Errors, progress and the log. */
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** Returns a signal that aborts when the process is asked to exit; a second request kills it. */
  endSignal(): AbortSignal
  /** Called when the server accepts requests. */
  serving?: () => void
}

/** Returns the streams of the process. */
export function processIo(): Io {
  // The reader of the output may close it early, as `head` does.
  process.stdout.once('error', () => process.exit(2))
  return {
    env: process.env,
    // Lazy: opening it would keep a process alive that does not read.
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
