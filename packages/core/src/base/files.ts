import { closeSync, openSync, readSync, statSync, lstatSync, mkdirSync } from 'node:fs'
import { resolve, dirname } from 'node:path'
import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { fail } from './errors.ts'

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

/**
 * Writes a durable file that only its owner can read, under a name of its own until it is complete: nobody can
 * put a link there, two writers do not meet, and a killed one leaves nothing that looks whole.
 */
export async function writeWholeFile<T>(
  path: string,
  write: (partial: string) => Promise<T>,
): Promise<T> {
  const partial = `${path}.${randomUUID()}.partial`
  const file = await open(partial, 'wx', 0o600)
  await file.close()
  try {
    const written = await write(partial)
    await sync(partial, 'r+')
    await rename(partial, path)
    await syncFolder(path)
    return written
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/** Writes a file as `writeWholeFile` does. Throws `invalid_request` if the path exists. */
export async function writeNewFile<T>(
  path: string,
  write: (partial: string) => Promise<T>,
): Promise<T> {
  if (lstatSync(path, { throwIfNoEntry: false }))
    throw fail('invalid_request', `${path} already exists and is not replaced`)
  return writeWholeFile(path, write)
}

/** Makes the directory entry of a file durable too. */
export const syncFolder = (path: string): Promise<void> => sync(dirname(path), 'r')

async function sync(path: string, flags: 'r' | 'r+'): Promise<void> {
  const file = await open(path, flags)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Creates a folder and the missing folders above it. Not `mkdir` of Node with `recursive`, which never
 * ends where the system has no such folder and lets nobody create it, as below `/proc`.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // Another process may have created it since.
    if (!isFolder(path)) throw new Error(`${path} is not a folder`, { cause: error })
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // Creating it gives the reason.
    return false
  }
}
