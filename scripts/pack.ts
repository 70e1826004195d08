/**
 * `node scripts/pack.ts <folder>`: creates the tarballs of the open packages, as published.
 * They are built in a fresh copy of the tree, so that no remains in `dist/` are included, with the
 * commercial packages present, so that a leak would show. `publint` and `attw` check
 * each tarball.
 */
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { build, install, ROOT, run, stageWorkingTree, workspacePackages } from './staging.ts'

const [, , folder] = process.argv
if (folder === undefined) {
  console.error('usage: node scripts/pack.ts <folder for the tarballs>')
  process.exit(2)
}
const out = resolve(folder)
const stage = await mkdtemp(join(tmpdir(), 'remit-pack-'))
try {
  await mkdir(out, { recursive: true })
  await stageWorkingTree(stage)
  const open = (await workspacePackages(stage)).filter((p) => p.tag === 'open' && !p.private)
  await install(stage)
  await build(
    stage,
    open.flatMap((p) => ['--filter', p.name]),
  )
  for (const { name, folder: source } of open) {
    const tarball = join(out, `${name.replace('@', '').replace('/', '-')}.tgz`)
    await run('pnpm', ['pack', '--out', tarball], join(stage, source))
    await checkTarball(tarball)
    // The packages are ES modules for Node: no CommonJS, and no resolution from before `exports`.
    await run('pnpm', ['exec', 'attw', tarball, '--profile', 'esm-only', '--no-emoji'], ROOT)
    console.log(tarball)
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(stage, { recursive: true, force: true })
}

/**
 * Reports entry points that are missing, mistyped or of the wrong format; any finding is an error.
 */
async function checkTarball(path: string): Promise<void> {
  const tarball = new Uint8Array(await readFile(path)).buffer
  const { messages, pkg } = await publint({ strict: true, pack: { tarball } })
  if (messages.length === 0) return
  const found = messages.map((message) => formatMessage(message, pkg, { color: false }))
  throw new Error(`publint on ${path}:\n  ${found.join('\n  ')}`)
}
