import { globSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { hasModules } from '../src/boot/modules.ts'

const root = resolve(import.meta.dirname, '../../..')
const textOf = (path: string) => readFileSync(resolve(root, path), 'utf8')

interface Step {
  readonly name: string
  readonly command: readonly string[]
}
// An import would leave the package.
const { STEPS } = (await import(pathToFileURL(resolve(root, 'scripts/check-steps.ts')).href)) as {
  readonly STEPS: readonly Step[]
}

interface Manifest {
  readonly name: string
  readonly scripts?: Readonly<Record<string, string>>
}
const manifestOf = (path: string) => JSON.parse(textOf(path)) as Manifest
const own = manifestOf('package.json')
const packages = globSync('{apps,packages,tools}/*/package.json', { cwd: root }).map(manifestOf)

/** The commands behind arguments of `pnpm`, each without the variables before it. */
function commandsOf(args: string): string[] {
  const [, filter, rest = ''] = /^(?:--filter (\S+) )?(.*)$/s.exec(args.trim()) ?? []
  if (rest.startsWith('exec ')) return [rest.slice('exec '.length)]
  const [name = '', ...more] = rest.split(' ')
  const place = filter === undefined ? own : packages.find((one) => one.name === filter)
  const script = place?.scripts?.[name]
  if (script === undefined) throw new Error(`no script is named ${name}: pnpm ${args}`)
  return [script, ...more]
    .join(' ')
    .split('&&')
    .map((command) => command.trim().replace(/^(?:[A-Z_]+=\S+ )+/, ''))
    .flatMap((command) =>
      command.startsWith('pnpm ') ? commandsOf(command.slice('pnpm '.length)) : [command],
    )
}

interface Workflow {
  readonly on: { readonly push?: { readonly tags?: readonly string[] } }
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions: Readonly<Record<string, string>>
        readonly steps: readonly { readonly run?: string; readonly uses?: string }[]
      }
    >
  >
}
const workflowOf = (file: string) => parse(textOf(`.github/workflows/${file}`)) as Workflow
const steps = readdirSync(resolve(root, '.github/workflows')).flatMap((file) =>
  Object.values(workflowOf(file).jobs).flatMap((job) => job.steps),
)
const calls = steps
  .flatMap(({ run = '' }) => [...run.matchAll(/\bpnpm@\S+ pnpm (.+)/g)])
  .map(([, args = '']) => args)

const exclude = ['**/node_modules']

describe('the jobs of CI', () => {
  // Some of the named tests are those of commercial packages.
  it.skipIf(!hasModules()).each(calls)('run what exists: pnpm %s', (args) => {
    expect(commandsOf(args)).not.toEqual([])
    const tests = args.split(' ').filter((word) => /^[\w/-]+\.test\.ts$/.test(word))
    for (const test of tests)
      expect(globSync(`{apps,packages}/**/${test}`, { cwd: root, exclude }), test).not.toEqual([])
  })

  it.each(STEPS)('run a step of `pnpm check`: $name', ({ command }) => {
    const ran = calls.flatMap(commandsOf)

    expect(ran).toEqual(expect.arrayContaining(commandsOf(command.join(' '))))
  })
})

describe('the workflows', () => {
  it('run actions at one commit each', () => {
    const uses = steps.flatMap((step) => step.uses ?? [])

    expect(uses.length).toBeGreaterThan(3)
    expect(uses.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([])
  })

  it('pack a release for a tag, in a job that may write nothing', () => {
    const { on, jobs } = workflowOf('release.yml')
    const packing = Object.values(jobs).filter((job) =>
      job.steps.some(({ run = '' }) => run.includes('pnpm release:pack release')),
    )

    expect(on.push?.tags).toEqual(['v*'])
    expect(packing.map(({ permissions }) => permissions)).toEqual([{ contents: 'read' }])
  })
})
