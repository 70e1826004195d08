import { randomUUID } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fail } from './errors.ts'

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
