/**
 * `node scripts/pack.ts [--quick] <folder>`: creates the tarballs of the open packages, as published.
 * They are built in a fresh copy of the tree, so that no remains in `dist/` are included, with the
 * commercial packages present, so that a leak would show. `publint` and `attw` check
 * each tarball. `--quick` uses the installed dependencies, and leaves types to other checks.
 */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import {
  install,
  linkInstalled,
  ROOT,
  run,
  stageWorkingTree,
  workspacePackages,
} from './staging.ts'

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [folder] = positionals
if (folder === undefined) {
  console.error('usage: node scripts/pack.ts [--quick] <folder for the tarballs>')
  process.exit(2)
}
const out = resolve(folder)
const stage = await mkdtemp(join(tmpdir(), 'remit-pack-'))
try {
  await mkdir(out, { recursive: true })
  await stageWorkingTree(stage)
  const open = (await workspacePackages(stage)).filter((p) => p.tag === 'open' && !p.private)
  if (values.quick) await buildQuickly(open.map((p) => p.folder))
  else {
    await install(stage)
    // pnpm builds them in the order of their dependencies.
    await run('pnpm', [...open.flatMap((p) => ['--filter', p.name]), 'run', 'build'], stage)
  }
  for (const { name, folder: source } of open) {
    const tarball = join(out, `${name.replace('@', '').replace('/', '-')}.tgz`)
    await run('pnpm', ['pack', '--out', tarball], join(stage, source))
    await checkTarball(tarball)
    // The packages are ES modules for Node: no CommonJS, and no resolution from before `exports`.
    if (!values.quick)
      await run('pnpm', ['exec', 'attw', tarball, '--profile', 'esm-only', '--no-emoji'], ROOT)
    console.log(tarball)
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await rm(stage, { recursive: true, force: true })
}

/** Writes the same files as their builds in a third of the time. */
async function buildQuickly(folders: readonly string[]): Promise<void> {
  await linkInstalled(stage)
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [compiler, '-b', '--noCheck', ...folders], stage)
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
