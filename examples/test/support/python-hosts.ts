/**
 * Installs the agent frameworks of sdks/python/hosts.json from PyPI, for the tests of the adapters: the
 * oldest version that is supported, with its dependencies of that day, and the newest, each in an
 * environment of its own below sdks/python/.hosts. The oldest gets the oldest Python on the machine, and comes with
 * REMIT_NIGHTLY=1 only; the newest gets the newest. Does nothing where they are present; without Python it says so.
 *
 *     node --conditions=@remit/source examples/test/support/python-hosts.ts
 */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** A checker of types, a linter, and what builds the package. */
const TOOLS = ['mypy==2.4.1', 'ruff==0.17.6', 'build==1.3.0', 'setuptools==80.9.0']
const FOLDER = resolve(import.meta.dirname, '../../../sdks/python')

interface Host {
  readonly name: string
  readonly package: string
  /** With the day from which its dependencies are. */
  readonly oldest: readonly [version: string, day: string]
  readonly newest: string
  /** Another host, which brings this one in the same versions: they share its environments. */
  readonly within?: string
  /** With REMIT_NIGHTLY=1 only, in both versions: its program has 400 MB. */
  readonly nightly?: true
}

export interface Environment {
  /** `tests/hosts/host_….py` drives the framework. */
  readonly driver: string
  readonly name: string
  readonly requirement: string
  readonly version: string
  readonly day?: string
  readonly folder: string
  readonly python: string
  readonly nightly?: true
  readonly within?: string
}

/** Of each framework the oldest and the newest version; `isInstalled` says which are there. */
export function environments(): Environment[] {
  const hosts = JSON.parse(readFileSync(join(FOLDER, 'hosts.json'), 'utf8')) as Record<string, Host>
  return Object.entries(hosts).flatMap(([driver, host]) =>
    [{ version: host.oldest[0], day: host.oldest[1] }, { version: host.newest }].map((one) => {
      const owner = hosts[host.within ?? driver] ?? host
      const version = one.day === undefined ? owner.newest : owner.oldest[0]
      const folder = join(FOLDER, '.hosts', `${owner.package}-${version}`)
      const requirement = `${host.package}==${one.version}`
      return {
        driver,
        name: host.name,
        requirement,
        ...one,
        ...((host.nightly || one.day !== undefined) && { nightly: true as const }),
        ...(host.within !== undefined && { within: host.within }),
        folder,
        python: join(folder, 'bin/python'),
      }
    }),
  )
}

export function toolsEnvironment(): Environment {
  const folder = join(FOLDER, '.hosts', `tools-${TOOLS.join('-')}`)
  const python = join(folder, 'bin/python')
  return { driver: '', name: 'tools', requirement: TOOLS.join(' '), version: '', folder, python }
}

const works = (command: string) => spawnSync(command, ['--version']).status === 0

/** The Pythons from 3.10 to 3.13 that are on the machine, the oldest first: on the path, or of pyenv. */
export function pythons(): string[] {
  const root = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions')
  const others = existsSync(root) ? readdirSync(root) : []
  return ['3.10', '3.11', '3.12', '3.13'].flatMap((version) => {
    const folders = others.filter((name) => name.startsWith(`${version}.`))
    const own = folders.map((name) => join(root, name, 'bin', `python${version}`))
    return [`python${version}`, ...own].find(works) ?? []
  })
}

export const isInstalled = (environment: Environment): boolean => existsSync(environment.python)

async function install(environment: Environment, uv: string, python: string): Promise<void> {
  const { folder, day, requirement } = environment
  // Complete, or not there.
  const made = `${folder}.new`
  await rm(made, { recursive: true, force: true })
  await run(uv, ['venv', '--quiet', '--relocatable', '--python', python, made])
  const until = day === undefined ? [] : ['--exclude-newer', day]
  await run(uv, [
    'pip',
    'install',
    '--quiet',
    '--python',
    join(made, 'bin/python'),
    ...until,
    ...requirement.split(' '),
  ])
  await rename(made, folder)
}

async function main(): Promise<void> {
  const isNightly = process.env['REMIT_NIGHTLY'] === '1'
  const wanted = environments().filter(
    ({ nightly, within }) => within === undefined && (isNightly || !nightly),
  )
  const missing = [...wanted, toolsEnvironment()].filter((one) => !isInstalled(one))
  if (missing.length === 0) return
  const found = pythons()
  const [first] = found
  if (first === undefined) {
    console.log(
      'No Python from 3.10 to 3.13 is here: the adapters for Python are not tested with frameworks',
    )
    return
  }
  const own = join(FOLDER, '.hosts/uv')
  const uv = works('uv') ? 'uv' : join(own, 'bin/uv')
  if (!works(uv)) {
    await run(first, ['-m', 'venv', own])
    await run(join(own, 'bin/pip'), ['install', '--quiet', 'uv'])
  }
  await Promise.all(
    missing.map(async (one) => {
      const python = one.day === undefined ? (found.at(-1) ?? first) : first
      try {
        await install(one, uv, python)
        console.log(`${one.requirement} with ${python}`)
      } catch (error) {
        console.log(
          `${one.requirement} could not be installed: ${(error as Error).message.split('\n').slice(0, 8).join(' | ')}`,
        )
      }
    }),
  )
}

if (import.meta.main) await main()
