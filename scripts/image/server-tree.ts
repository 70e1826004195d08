import { cp, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../staging.ts'

/** Path of the server and the console below the root of the image. */
export const HOME = 'opt/remit'

/**
 * Writes the built server and console of a workspace to `<root>/opt/remit`, without development
 * packages and without the paths that differ between two runs. A workspace without commercial
 * packages gives the community edition.
 */
export async function writeServerTree(workspace: string, root: string): Promise<void> {
  const home = join(root, HOME)
  const server = join(home, 'server')
  await mkdir(home, { recursive: true })
  await run('pnpm', ['--filter', '@remit/server', 'deploy', '--prod', server], workspace)
  // The server finds the console beside its own folder.
  await cp(join(workspace, 'apps/console/dist'), join(home, 'console/dist'), { recursive: true })
  for (const path of await unneeded(server)) await rm(path, { recursive: true, force: true })
}

/** The state of the package manager, with times, and parts of libraries for other machines. */
async function unneeded(server: string): Promise<string[]> {
  const modules = join(server, 'node_modules')
  const names = await readdir(modules)
  const state = names.filter((name) => /^\.(modules|pnpm-workspace-state)/.test(name))
  const store = await readdir(join(modules, '.pnpm'))
  const sqlite = store
    .filter((name) => name.startsWith('better-sqlite3@'))
    .map((name) => join(modules, '.pnpm', name, 'node_modules/better-sqlite3'))
  const prebuilds = await Promise.all(sqlite.map((folder) => readdir(join(folder, 'prebuilds'))))
  return [
    ...state.map((name) => join(modules, name)),
    join(modules, '.pnpm/lock.yaml'),
    join(server, 'pnpm-lock.yaml'),
    ...sqlite.flatMap((folder) => [join(folder, 'deps'), join(folder, 'src')]),
    ...sqlite.flatMap((folder, i) =>
      (prebuilds[i] ?? [])
        .filter((name) => name !== `linux-${process.arch}.node`)
        .map((name) => join(folder, 'prebuilds', name)),
    ),
  ]
}
