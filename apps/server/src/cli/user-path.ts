import { dirname, resolve } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Resolves a path of the command line from the folder of the user. `pnpm remit` runs the command in
 * the folder of its package; `INIT_CWD` then names the folder where pnpm was called, with `--dir`
 * too. Scripts that only inherit `INIT_CWD` from pnpm have their own folder.
 */
export function userPath(path: string, env: Env = process.env, cwd = process.cwd()): string {
  const { INIT_CWD: called, npm_lifecycle_event: script, npm_package_json: manifest } = env
  const isRunByPnpm = script === 'remit' && manifest !== undefined && dirname(manifest) === cwd
  return resolve(isRunByPnpm && called ? called : cwd, path)
}
