import { dirname, resolve } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

/**
 * A path of the command line, made absolute from the folder where the user is. `pnpm remit` runs the
 * command in the folder of its package; `INIT_CWD` then names the one where pnpm was called, with
 * `--dir` too. A script that only inherits `INIT_CWD` from pnpm has chosen its own folder.
 */
export function userPath(path: string, env: Env = process.env, cwd = process.cwd()): string {
  const { INIT_CWD: called, npm_lifecycle_event: script, npm_package_json: manifest } = env
  const isRunByPnpm = script === 'remit' && manifest !== undefined && dirname(manifest) === cwd
  return resolve(isRunByPnpm && called ? called : cwd, path)
}
