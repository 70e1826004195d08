import { homedir } from 'node:os'
import { join, relative, sep } from 'node:path'
import type { Places } from './discover.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The files of this machine: those of the user and of the system. The home folder is shown as `~`. */
export function machinePlaces(env: Env): Omit<Places, 'gateways'> {
  const home = env['HOME'] ?? env['USERPROFILE'] ?? homedir()
  return {
    folders: { home: [home], app: [appFolder(home, env)], system: ['/'] },
    shown: (path) => (isBelow(home, path) ? `~${sep}${relative(home, path)}` : path),
  }
}

/** The files of a repository, shown by their path in it. */
export const repositoryPlaces = (folder: string): Omit<Places, 'gateways'> => ({
  folders: { project: [folder] },
  shown: (path) => relative(folder, path),
})

function appFolder(home: string, env: Env): string {
  if (process.platform === 'darwin') return join(home, 'Library/Application Support')
  if (process.platform === 'win32') return env['APPDATA'] ?? join(home, 'AppData/Roaming')
  return env['XDG_CONFIG_HOME'] ?? join(home, '.config')
}

const isBelow = (folder: string, path: string): boolean => path.startsWith(`${folder}${sep}`)
