import { randomUUID } from 'node:crypto'
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../base/files.ts'

/**
 * Writes a file that only its owner can read (mode 0600), unless it exists. Linked to its name when
 * complete: other processes see a complete file or none, and the first writer wins.
 */
export function createSecretFile(path: string, text: string): void {
  makeFolder(dirname(path), 0o700)
  const partial = `${path}.${randomUUID()}`
  try {
    writeFileSync(partial, text, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(partial, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(partial, { force: true })
  }
}
