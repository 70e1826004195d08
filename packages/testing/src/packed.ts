import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

const RELEASE = resolve(import.meta.dirname, '../../../scripts/release.ts')

const folderOf = (run: string): string => join(tmpdir(), `remit-packed-${run}`)

/** Without it, a test run packs no Python package. */
export const hasVenv = (): boolean => spawnSync('python3', ['-c', 'import ensurepip']).status === 0

/** Returns the folder with the files of a release without images, which a test run packs once. */
export async function packedOnce(): Promise<string> {
  const folder = folderOf(process.env['REMIT_TEST_RUN'] ?? String(process.pid))
  const outcome = join(folder, 'outcome')
  if (isMine(folder)) writeFileSync(outcome, await pack(folder))
  // Another process of this run packs.
  while (!existsSync(outcome)) await setTimeout(100)
  const failure = readFileSync(outcome, 'utf8')
  if (failure !== '') throw new Error(failure)
  return folder
}

/** Deletes the tarballs of a test run. */
export const dropPacked = (run: string): void =>
  rmSync(folderOf(run), { recursive: true, force: true })

function isMine(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}

/** Returns the failure, or an empty text. */
const pack = (folder: string): Promise<string> => {
  const only = hasVenv() ? 'npm,chart,python' : 'npm,chart'
  const options = [RELEASE, folder, '--only', only]
  return promisify(execFile)(process.execPath, options, { maxBuffer: 1 << 24 }).then(
    () => '',
    (error: unknown) => String(error),
  )
}
