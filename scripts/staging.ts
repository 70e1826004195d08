import { execFile, spawn, spawnSync } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Absolute path of the repository, without a trailing slash. */
export const ROOT: string = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** A package of the workspace, from its own files. */
export interface WorkspacePackage {
  readonly name: string
  /** Relative to the root: `packages/core`. */
  readonly folder: string
  readonly private: boolean
  /** From `turbo.json`, where `turbo boundaries` reads it too. */
  readonly tag: 'open' | 'commercial' | 'edition'
}

/**
 * Returns all packages under `packages/`, `apps/` and `tools/`; throws for one without exactly one
 * known tag.
 */
export async function workspacePackages(root = ROOT): Promise<WorkspacePackage[]> {
  const folders: string[] = []
  for (const room of ['packages', 'apps', 'tools'])
    for (const entry of await readdir(join(root, room), { withFileTypes: true }))
      if (entry.isDirectory()) folders.push(`${room}/${entry.name}`)
  const packages = await Promise.all(folders.map((folder) => describePackage(root, folder)))
  return packages.filter((found) => found !== undefined)
}

async function describePackage(
  root: string,
  folder: string,
): Promise<WorkspacePackage | undefined> {
  const manifest = await readJson(join(root, folder, 'package.json'))
  if (manifest === undefined) return undefined
  const turbo = await readJson(join(root, folder, 'turbo.json'))
  const tags: readonly unknown[] = Array.isArray(turbo?.['tags']) ? turbo['tags'] : []
  const [tag] = tags
  if (tags.length !== 1 || (tag !== 'open' && tag !== 'commercial' && tag !== 'edition'))
    throw new Error(`${folder}/turbo.json: tags must be one of [open], [commercial], [edition]`)
  return {
    name: String(manifest['name']),
    folder,
    private: manifest['private'] === true,
    tag,
  }
}

async function readJson(path: string): Promise<Record<string, unknown> | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Copies the working tree as seen by git (tracked and untracked files, without ignored ones) into
 * an empty folder, without the folders in `without`.
 */
export async function stageWorkingTree(
  target: string,
  without: readonly string[] = [],
): Promise<void> {
  const made = new Set<string>()
  for (const file of await trackedFiles()) {
    if (without.some((folder) => file.startsWith(`${folder}/`))) continue
    const from = join(ROOT, file)
    if (!(await stat(from).catch(() => undefined))?.isFile()) continue
    const folder = dirname(join(target, file))
    if (!made.has(folder)) await mkdir(folder, { recursive: true })
    made.add(folder)
    await copyFile(from, join(target, file))
  }
}

async function trackedFiles(): Promise<string[]> {
  try {
    // Checkouts in containers often belong to another user; this makes git accept them.
    const list = ['-c', 'safe.directory=*', 'ls-files', '-z', '-co', '--exclude-standard']
    const { stdout } = await promisify(execFile)('git', list, { cwd: ROOT, maxBuffer: 1 << 26 })
    return stdout.split('\0').filter((file) => file !== '')
  } catch {
    return filesOnDisk(ROOT)
  }
}

const GENERATED = new Set(['node_modules', 'dist', 'coverage', 'data', '.git', '.turbo'])

/** A source archive has no `.git`: lists everything that is not generated. */
async function filesOnDisk(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (GENERATED.has(entry.name)) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...(await filesOnDisk(path)))
    else if (entry.isFile()) found.push(relative(ROOT, path))
  }
  return found
}

/**
 * Puts pnpm 12 on the PATH of this process, from npx unless it is there: `node scripts/image.ts` needs no
 * more than Node.js. Throws where npx cannot fetch it.
 */
export function providePnpm(): void {
  if (spawnSync('pnpm', ['--version']).error === undefined) return
  const print = ['-y', '-p', 'pnpm@12', '-c', 'command -v pnpm']
  const { stdout, stderr, status } = spawnSync('npx', print, { encoding: 'utf8' })
  if (status !== 0)
    throw new Error(`pnpm 12 is needed: install it, or npx, which fetches it.${stderr ?? ''}`)
  process.env['PATH'] = dirname(stdout.trim()) + delimiter + (process.env['PATH'] ?? '')
}

/** Runs `pnpm install` with the frozen lockfile, preferring the local store. */
export async function install(cwd: string): Promise<void> {
  providePnpm()
  await run('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], cwd)
}

/** Outputs of builds. Those of a package are the same in all trees with the same inputs. */
const BUILDS = join(ROOT, 'node_modules/.cache/turbo')

/** Builds an installed tree. Flags of turbo choose packages; `--force` builds without earlier outputs. */
export async function build(cwd: string, flags: readonly string[] = []): Promise<void> {
  await run('pnpm', ['build', '--cache-dir', BUILDS, ...flags], cwd)
}

/**
 * Runs a command to its end. Throws with its whole output on failure; prints nothing otherwise. The
 * environment of a surrounding test runner is not passed on.
 */
export async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(command, args, { cwd, env: plainEnv(), stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise<number | null>((done, failed) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      failed(error.code === 'ENOENT' ? new Error(`${command} is needed and not installed`) : error),
    )
    child.once('close', done)
  })
  if (code !== 0)
    throw new Error(`${[command, ...args].join(' ')} in ${cwd} exited with ${code}:\n${output}`)
  return output
}

/** Returns the environment of a shell outside a test run, for unattended commands. */
export function plainEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own =
    /^(VITEST|NODE_ENV$|NODE_OPTIONS$|REMIT_(?!TEST_)|REMIT_TEST_RUN|npm_(package|lifecycle)_|PNPM_PACKAGE|INIT_CWD$|p?npm_config_verify_deps_before_run$)/i
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name))
  return { ...Object.fromEntries(kept), CI: 'true', TURBO_TELEMETRY_DISABLED: '1', ...extra }
}
