import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')
/** The tools, each in a folder of its own. */
export const FOLDER = join(ROOT, 'node_modules/.cache/peers')

/** Runs a program to its end. Throws if it fails. */
export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const options = { stdio: 'inherit', cwd: ROOT, env: { ...process.env, ...env } } as const
  const { status, error } = spawnSync(command, args, options)
  if (status !== 0) throw new Error(`${command} ended with ${status ?? error?.message}`)
}

/** Installs a tool with `make`, unless it is there with the same requirements. */
export function once(name: string, requirements: readonly string[], make: () => void): void {
  const installed = join(FOLDER, name, `installed-${requirements.join(' ').replaceAll('/', '_')}`)
  if (existsSync(installed)) return
  mkdirSync(FOLDER, { recursive: true })
  make()
  writeFileSync(installed, '')
}

/**
 * Builds a Go program, `<FOLDER>/<name>/<name>`, unless it is there: `target` is a package of the modules, or `.`
 * for the source that `generate` writes into a folder. `replace` are such lines of a `go.mod`. Needs Go 1.26.
 */
export function goProgram(
  name: string,
  { modules, replace = [], flags = [], target, generate }: GoProgram,
): void {
  const requirements = hash('sha256', [...modules, ...replace, ...flags].join()).slice(0, 16)
  once(name, [requirements], () => {
    const source = join(FOLDER, name, 'source')
    rmSync(source, { recursive: true, force: true })
    mkdirSync(source, { recursive: true })
    generate?.(source)
    const go = (verb: string, ...args: string[]) => run('go', ['-C', source, verb, ...args])
    go('mod', 'init', `remit.test/${name}`)
    for (const line of replace) go('mod', 'edit', `-replace=${line}`)
    go('get', ...modules)
    // Reads the sums of further modules, whose tests it does not need.
    const output = ['-o', join(FOLDER, name, name), target]
    go('build', '-mod=mod', '-trimpath', '-ldflags=-s -w', ...flags, ...output)
  })
}

interface GoProgram {
  readonly modules: readonly string[]
  readonly replace?: readonly string[]
  readonly flags?: readonly string[]
  readonly target: string
  readonly generate?: (folder: string) => void
}

/** Installs packages of PyPI into an environment of their own. */
export function python(name: string, requirements: readonly string[]): void {
  once(name, requirements, () => {
    const environment = join(FOLDER, name)
    run('python3', ['-m', 'venv', '--clear', environment])
    run(join(environment, 'bin/pip'), ['install', '--quiet', 'uv'])
    const target = ['--python', join(environment, 'bin/python')]
    run(join(environment, 'bin/uv'), ['pip', 'install', '--quiet', ...target, ...requirements])
  })
}

/** A table of Markdown. */
export const table = (
  names: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string =>
  [names, names.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
