import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

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
