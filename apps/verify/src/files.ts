import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { getSystemErrorMessage } from 'node:util'

/** An error that prevents the verification, with a one-line message. */
export class CannotRun extends Error {}

/** An open file of this process, such as the pipe of `<(…)` in a shell. */
const OPEN_FILE = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/

/** Throws for a named pipe, which waits for a writer, and for a device, which may have no end. */
function requireRegularFile(path: string): void {
  if (!OPEN_FILE.test(resolve(path)) && !statSync(path).isFile())
    throw new Error('it is not a regular file')
}

/** The bytes of a file of any size; `-` is standard input. Throws `CannotRun`. */
export async function* bytesOf(path: string, stdin: Readable): AsyncGenerator<Uint8Array> {
  try {
    if (path !== '-') requireRegularFile(path)
    yield* path === '-' ? stdin : createReadStream(path, { highWaterMark: 1 << 20 })
  } catch (error) {
    throw new CannotRun(`${path} cannot be read: ${reasonOf(error)}`)
  }
}

/** Far above the largest report, and above a file of checkpoints of a hundred years. */
const MAX_TEXT = 256 * 1024 * 1024

/** The text of a file. Throws `CannotRun`. */
export function readText(path: string): string {
  try {
    requireRegularFile(path)
    return readLimited(path).toString('utf8')
  } catch (error) {
    throw new CannotRun(`${path} cannot be read: ${reasonOf(error)}`)
  }
}

/** Reads a file that may have no end, such as a pipe. */
function readLimited(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const pieces: Buffer[] = []
    for (let length = 0; length <= MAX_TEXT;) {
      const piece = Buffer.allocUnsafe(1 << 20)
      const read = readSync(file, piece)
      if (read === 0) return Buffer.concat(pieces)
      pieces.push(piece.subarray(0, read))
      length += read
    }
    throw new Error(`it has more than ${MAX_TEXT} bytes`)
  } finally {
    closeSync(file)
  }
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('errno' in error && typeof error.errno === 'number') return getSystemErrorMessage(error.errno)
  return error.message.replaceAll('\n', ' ')
}
