import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { run, workspacePackages } from '../staging.ts'

/** Path of the server and the console below the root of the image. */
export const HOME = 'opt/remit'

/** The state of the package manager, with paths and times of this run. */
const STATE = [
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'node_modules/.pnpm',
  'node_modules/.bin',
  'node_modules/.modules.yaml',
  'node_modules/.pnpm-workspace-state-v1.json',
]

/** Sources of a native library, which has its compiled parts. */
const SQLITE = 'node_modules/better-sqlite3'
const SOURCES = ['deps', 'src', 'binding.gyp'].map((name) => `${SQLITE}/${name}`)

/** The server sends one file of it to browsers, which contains the packages that it depends on. */
const FOR_BROWSERS = 'node_modules/openapi-explorer'
const UNBUNDLED = ['es', 'lib'].map((name) => `${FOR_BROWSERS}/dist/${name}`)

/** Files of a package for compilers, debuggers and readers, hidden files, and folders that no code imports. */
const UNREAD =
  /\.(?:[cm]?ts|test\.[cm]?js|map|flow|md|markdown|[ch]|gypi?)$|(?:^|\/)\.|^(?:tests?|__tests__|spec|examples?|benchmarks?|docs?)\//
/** They stay where the code of a package is left out, because bundles contain it. */
const NOTICE = /^(?:licen[cs]e|notice|package\.json$)/i

/**
 * Writes the built server and console of a workspace to `<root>/opt/remit`, without development
 * packages, and independent of the folder of the workspace. A workspace without commercial packages
 * gives the community edition.
 */
export async function writeServerTree(workspace: string, root: string): Promise<void> {
  const home = join(root, HOME)
  const server = join(home, 'server')
  await mkdir(home, { recursive: true })
  const layout = [
    // The other linkers name folders after the path of the workspace.
    '--config.node-linker=hoisted',
    // tar fails when another install adds a hard link to a file that it reads.
    '--config.package-import-method=copy',
  ]
  const deploy = ['--filter', '@remit/server', 'deploy', ...(await dependencyOptions(workspace))]
  await run('pnpm', [...layout, ...deploy, server], workspace)
  // The server finds the console beside its own folder.
  await cp(join(workspace, 'apps/console/dist'), join(home, 'console/dist'), { recursive: true })
  const ours = await readdir(join(server, 'node_modules/@remit'))
  const unused = [
    'node_modules/@types',
    ...STATE,
    ...SOURCES,
    ...UNBUNDLED,
    ...(await foreignParts(server)),
    ...['', ...ours.map((name) => `node_modules/@remit/${name}`)].map((one) => join(one, 'src')),
  ]
  for (const path of unused) await rm(join(server, path), { recursive: true, force: true })
  await removeUnread(server)
  const manifest = join(server, 'package.json')
  const text = await readFile(manifest, 'utf8')
  await writeFile(manifest, text.replaceAll(/"@remit\/[\w-]+@file:[^"]+"/g, '"*"'))
}

/**
 * Options of pnpm for the dependencies in an image. The commercial packages are optional
 * dependencies, and the lockfile names them where their folders are absent, too.
 */
export async function dependencyOptions(workspace: string): Promise<string[]> {
  const packages = await workspacePackages(workspace)
  const isCommunity = packages.every(({ tag }) => tag !== 'commercial')
  return isCommunity ? ['--prod', '--no-optional'] : ['--prod']
}

/** Compiled parts of libraries for other systems. */
async function foreignParts(server: string): Promise<string[]> {
  const parts = await readdir(join(server, SQLITE, 'prebuilds'))
  return parts
    .filter((name) => name !== `linux-${process.arch}.node`)
    .map((name) => `${SQLITE}/prebuilds/${name}`)
}

/** The manifest of a package; some packages have further ones inside. */
const MANIFEST = /^(?:.+\/node_modules\/)?(?:@[^/]+\/)?[^/]+\/package\.json$/

/** Returns the folder of every package that is deployed with a server. */
export async function packageFolders(server: string): Promise<string[]> {
  const modules = join(server, 'node_modules')
  const paths = await readdir(modules, { recursive: true })
  return paths.filter((path) => MANIFEST.test(path)).map((path) => join(modules, dirname(path)))
}

/** Returns the folders of the server and of all packages that it imports, directly or not. */
async function importedPackages(server: string): Promise<Set<string>> {
  const found = new Set<string>()
  const left = [server]
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    if (found.has(folder)) continue
    found.add(folder)
    if (folder === join(server, FOR_BROWSERS)) continue
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      await readFile(join(folder, 'package.json'), 'utf8'),
    ) as Record<string, object | undefined>
    const names = { ...dependencies, ...optionalDependencies, ...peerDependencies }
    left.push(...Object.keys(names).flatMap((name) => resolved(server, folder, name)))
  }
  return found
}

/** The folder of the package that code below `folder` gets under a name, as Node.js finds it; none for an optional one. */
function resolved(server: string, folder: string, name: string): string[] {
  const place = join(folder, 'node_modules', name)
  if (existsSync(place)) return [place]
  return folder === server ? [] : resolved(server, dirname(folder), name)
}

/** Removes what no running server reads: files of other kinds, and the code of packages that it does not import. */
async function removeUnread(server: string): Promise<void> {
  const imported = await importedPackages(server)
  for (const folder of [server, ...(await packageFolders(server))])
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const name = relative(folder, path)
      if (entry.isDirectory() || /^node_modules\/[^.]/.test(name)) continue
      if (UNREAD.test(name) || !(imported.has(folder) || NOTICE.test(name))) await rm(path)
    }
  await run('find', [server, '-type', 'd', '-empty', '-delete'], server)
}
