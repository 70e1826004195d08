import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** An open file of a process, such as standard input or the pipe of `<(…)` in a shell. */
const OPEN_FILE = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/

/**
 * Throws unless a path is a regular file or an open file of a process. A named pipe waits for a writer, and a
 * device may have no end.
 */
export function requireRegularFile(path: string): void {
  if (!OPEN_FILE.test(resolve(path)) && !statSync(path).isFile())
    throw new Error('it is not a regular file')
}

const MIB = 2 ** 20
const PIECE = 2 ** 16
/** Far above the largest file of settings. */
const MAX_MIB = 64

/** Returns the bytes of a file that `requireRegularFile` accepts. Throws if it is too large. */
export function readWholeFile(path: string, maxMib = MAX_MIB): Buffer {
  requireRegularFile(path)
  const file = openSync(path, 'r')
  try {
    const pieces: Buffer[] = []
    for (let length = 0; length <= maxMib * MIB;) {
      const piece = Buffer.allocUnsafe(PIECE)
      const read = readSync(file, piece)
      if (read === 0) return Buffer.concat(pieces)
      pieces.push(piece.subarray(0, read))
      length += read
    }
    throw new Error(`it is larger than ${maxMib} MiB`)
  } finally {
    closeSync(file)
  }
}
