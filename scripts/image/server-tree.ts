import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
  for (const path of [...STATE, ...SOURCES, ...(await foreignParts(server))])
    await rm(join(server, path), { recursive: true, force: true })
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
