/**
 * Tests the community edition (`node scripts/community.ts [--quick]`): the tree without the
 * commercial folders installs with the lockfile unchanged, builds, passes the tests of the start of its server
 * (`--quick`: none; `REMIT_TEST_RUNS=complete`: types, and all tests of its server), boots and
 * returns 404 for everything that is not open; then its container image. With `REMIT_TEST_RUNS=complete` the same
 * for the server that is deployed without optional packages from the full tree, which must contain no file of a
 * commercial package, and for the image of the enterprise edition, made in two folders.
 */
import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { checkImage } from './image/check-image.ts'
import type { ImageCheck } from './image/check-image.ts'
import { HOME } from './image/server-tree.ts'
import { probeCommunity } from './edition-probe.ts'
import { build, install, ROOT, run, stageWorkingTree, workspacePackages } from './staging.ts'

const isComplete = process.env['REMIT_TEST_RUNS'] === 'complete'
// The repetitions ran with all packages.
delete process.env['REMIT_TEST_RUNS']

/** The editions differ in what the server loads when it starts. */
const TESTS_OF_START = ['process-', 'editions', 'migrate-modes', 'cli-usage']
const TESTS = isComplete
  ? ['apps/server/']
  : TESTS_OF_START.map((name) => `apps/server/test/${name}`)

const testFiles = await readdir(join(ROOT, 'apps/server/test'))
// Vitest ignores a name without a file.
const missing = TESTS_OF_START.filter((name) => !testFiles.some((file) => file.startsWith(name)))
if (missing.length > 0) throw new Error(`no test of the server begins with ${missing.join(', ')}`)

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const commercial = (await workspacePackages()).filter(({ tag }) => tag === 'commercial')
const started = performance.now()

async function buildWithoutCommercialFolders(stage: string): Promise<void> {
  await mkdir(stage)
  const folders = commercial.map(({ folder }) => folder)
  await stageWorkingTree(stage, folders)
  say(`copied without ${folders.join(', ')}`)
  await install(stage)
  const lockfiles = await Promise.all([ROOT, stage].map(readLockfile))
  if (lockfiles[0] !== lockfiles[1]) throw new Error('the install rewrote pnpm-lock.yaml')
  say('installed with the lockfile unchanged')
  await build(stage)
  say('built')
}

async function testCommunity(stage: string): Promise<void> {
  if (isComplete) {
    // The open packages cannot import a commercial one, so their types are the same in every edition; only the
    // server differs, and the step of the boundary finds its imports. One checker, since other steps use the processors.
    const config = { extends: './tsconfig.json', include: ['apps/server/src', 'apps/server/test'] }
    await writeFile(join(stage, 'tsconfig.server.json'), JSON.stringify(config))
    await run('pnpm', ['exec', 'tsc', '-p', 'tsconfig.server.json', '--checkers', '1'], stage)
    say('types pass')
  }
  if (!quick) {
    // The open packages cannot import a commercial one, so their tests are the same in every
    // edition; only the server differs.
    await run('pnpm', ['exec', 'vitest', 'run', ...TESTS], stage)
    say('tests of the server pass')
  }
  const asked = await probeCommunity(join(stage, 'apps/server'))
  say(`boots; ${asked} endpoints above the open tier are 404 with and without a key`)
}

/** Checks the container image of a built tree. */
async function makeAndBoot(
  tree: string,
  edition: 'community' | 'enterprise',
  options: Omit<ImageCheck, 'edition'>,
): Promise<void> {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get')) {
    say('skipped: images are made on Debian')
    return
  }
  const out = join(temp, `image-${edition}`)
  const { digest } = await checkImage(tree, out, { edition, ...options })
  if (options.copy !== undefined) say('two folders with the same sources give the same image')
  say(`${edition} image starts read-only as another user: ${digest}`)
}

const readLockfile = (folder: string): Promise<string> =>
  readFile(join(folder, 'pnpm-lock.yaml'), 'utf8')

/** `flags` are those of turbo. */
async function buildIn(stage: string, flags: readonly string[] = []): Promise<void> {
  await mkdir(stage, { recursive: true })
  await stageWorkingTree(stage)
  await install(stage)
  await build(stage, flags)
}

async function deployWithoutOptional(stage: string, image: string): Promise<void> {
  const deploy = ['--filter', '@remit/server', 'deploy', '--prod', '--no-optional', image]
  await run('pnpm', deploy, stage)
  await refuseCommercial(stage, image)
  say('deployed without optional packages; no commercial file in the image')
  const asked = await probeCommunity(image)
  say(`boots; ${asked} endpoints above the open tier are 404 with and without a key`)
}

/**
 * The only files that may name a commercial package: the server's list of modules, built and not.
 */
const MODULE_LIST = /^(src\/boot\/modules\.ts|dist\/boot\/modules\.(js|js\.map|d\.ts|d\.ts\.map))$/

/** Throws if a deployed server contains a file of a commercial package, or names one. */
async function refuseCommercial(stage: string, deployed: string): Promise<void> {
  const leaks = await commercialBytes(stage, deployed)
  if (leaks.length > 0) throw new Error(`commercial files in the image:\n  ${leaks.join('\n  ')}`)
}

/** Returns the files of the image that are part of a commercial package, or name one. */
async function commercialBytes(stage: string, image: string): Promise<string[]> {
  const theirs = new Set<string>()
  for (const { folder } of commercial)
    for await (const { path, content } of filesBelow(join(stage, folder)))
      // Below 64 bytes equal content proves nothing: `export {}`, `{}`.
      if (!path.startsWith('node_modules') && content.length > 64) theirs.add(digest(content))
  const leaks: string[] = []
  for await (const { path, content } of filesBelow(image)) {
    const named = commercial.some(
      ({ name, folder }) =>
        path.includes(name.replace('/', '+')) ||
        path.includes(name) ||
        (!MODULE_LIST.test(path) && (content.includes(name) || content.includes(folder))),
    )
    if (named || theirs.has(digest(content))) leaks.push(path)
  }
  return leaks
}

const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

/** Yields every regular file below a folder, with its relative path; links are not followed. */
async function* filesBelow(folder: string): AsyncGenerator<{ path: string; content: Buffer }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((found) => found.isFile())) {
    const path = join(entry.parentPath, entry.name)
    yield { path: relative(folder, path), content: await readFile(path) }
  }
}

/** Checks the server of an image for files of the commercial packages of a tree. */
const inspectServer = (stage: string) => (root: string) =>
  refuseCommercial(stage, join(root, HOME, 'server'))

/** Deploys the tree with all packages, makes its image in two folders, and checks both. */
function checkFullTree(built: Promise<void>): Promise<void>[] {
  const [full, copy] = [join(temp, 'full'), join(temp, 'elsewhere/copy')]
  // The full tree takes the outputs of the open packages from the tree without commercial folders.
  const fullBuilt = built.then(() => buildIn(full))
  const server = ['--filter', '@remit/server...', '--filter', '@remit/console...']
  const copyBuilt = buildIn(copy, ['--force', ...server])
  return [
    fullBuilt.then(() => deployWithoutOptional(full, join(temp, 'deployed'))),
    allOf([fullBuilt, copyBuilt]).then(() => makeAndBoot(full, 'enterprise', { copy })),
  ]
}

/** Waits for all before it throws the first error: the others work in folders that are deleted then. */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

function say(what: string): void {
  console.log(
    `community ${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${what}`,
  )
}

const temp = await mkdtemp(join(tmpdir(), 'remit-editions-'))
// The programs of PostgreSQL run as a separate user, who needs access.
await chmod(temp, 0o755)
try {
  const tree = join(temp, 'tree')
  const built = buildWithoutCommercialFolders(tree)
  const community = [
    built.then(() => testCommunity(tree)),
    built.then(() => makeAndBoot(tree, 'community', { inspect: inspectServer(ROOT) })),
  ]
  await allOf(isComplete ? [...community, ...checkFullTree(built)] : community)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(temp, { recursive: true, force: true })
}
