import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
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
