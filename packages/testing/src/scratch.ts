import { mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** A container often has 64 MiB there; a test run needs several hundred. */
const ENOUGH = 2 ** 30

/** Options of the mount of containers, which keeps installed programs from running. */
const NO_PROGRAMS = /^\S+ \/dev\/shm \S+ \S*noexec/m

/**
 * A new folder for the data of a test. It is in memory where there is room and programs run: thousands
 * of databases come and go, and a file system on a disk spends more time on their files than the tests
 * run.
 */
export const scratchFolder = (name: string): string => mkdtempSync(join(parent(), `remit-${name}-`))

let chosen: string | undefined

function parent(): string {
  chosen ??= isMemoryUsable() ? MEMORY : tmpdir()
  return chosen
}

function isMemoryUsable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH && !NO_PROGRAMS.test(readFileSync('/proc/mounts', 'utf8'))
  } catch {
    return false
  }
}
