import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { programEnv } from '@remit/testing/pure'

const ROOT = resolve(import.meta.dirname, '../..')
/** The console contains its client, the words of reports, the reader of proofs and the policy packs. */
const SOURCES = ['src', '../../packages/contract/src', '../verify/src', '../../examples/policies']
const SHELL = join(ROOT, 'dist/index.html.br')
const LOCK = join(ROOT, 'node_modules/.test-build')
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js')
const run = promisify(execFile)
const STALE_MS = 120_000

async function newestSource(): Promise<number> {
  const folders = SOURCES.map((folder) => resolve(ROOT, folder))
  const files = await Promise.all(
    folders.map((folder) => readdir(folder, { recursive: true, withFileTypes: true })),
  )
  const paths = files
    .flat()
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
  const stats = await Promise.all(
    [...paths, join(ROOT, 'index.html'), join(ROOT, 'vite.config.ts')].map((path) => stat(path)),
  )
  return Math.max(...stats.map(({ mtimeMs }) => mtimeMs))
}

const builtAt = (): Promise<number> =>
  stat(SHELL).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

const isFresh = async (): Promise<boolean> => (await builtAt()) > (await newestSource())

/** Builds the console unless it is newer than its sources; one build at a time. */
export async function buildConsole(): Promise<void> {
  if (await isFresh()) return
  for (;;) {
    const isMine = await mkdir(LOCK).then(
      () => true,
      () => false,
    )
    if (isMine) break
    const age = Date.now() - (await stat(LOCK).then(({ mtimeMs }) => mtimeMs, Date.now))
    if (age > STALE_MS) await rm(LOCK, { recursive: true, force: true })
    await pause(200)
  }
  try {
    // In a process of its own: this one's environment would make it a build for development.
    if (!(await isFresh()))
      await run(process.execPath, [VITE, 'build'], { cwd: ROOT, env: programEnv({}) })
  } finally {
    await rm(LOCK, { recursive: true, force: true })
  }
}
