import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** A container often has 64 MiB there; a test run needs several hundred. */
const ENOUGH = 2 ** 30

/**
 * A new folder for the data of a test. It is in memory where there is room: thousands of databases
 * come and go, and a file system on a disk spends more time on their files than the tests run.
 */
export const scratchFolder = (name: string): string => mkdtempSync(join(parent(), `remit-${name}-`))

let chosen: string | undefined

function parent(): string {
  chosen ??= memoryHasRoom() ? MEMORY : tmpdir()
  return chosen
}

function memoryHasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH
  } catch {
    return false
  }
}
