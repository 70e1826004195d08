import type { Readable, Writable } from 'node:stream'
import { fileFault } from '../settings/read-file.ts'
import { EXIT } from './errors.ts'

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
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    // The reader of the output may close it early, as `head` does.
    if (error.code !== 'EPIPE')
      process.stderr.write(`remit: standard output cannot be written: ${fileFault(error)}\n`)
    process.exit(EXIT.couldNotRun)
  })
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

/** Resolves when the results are written. If that fails, the stream has an error. */
export const written = ({ stdout }: Io): Promise<void> =>
  new Promise((resolve) => {
    stdout.write('', () => resolve())
  })
