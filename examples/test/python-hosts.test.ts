import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environments, isInstalled } from './support/python-hosts.ts'
import type { Environment } from './support/python-hosts.ts'
import { createPythonRules } from './support/python.ts'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const isRun = inFullRun('the adapters for Python in their frameworks') && hasModules()
const python = resolve(import.meta.dirname, '../../sdks/python')
const page = resolve(import.meta.dirname, '../../docs/python-frameworks.md')

const all = environments()
const installed = isRun ? all.filter(isInstalled) : []
const missing = all.filter((one) => !isInstalled(one) && !one.nightly)
if (isRun && missing.length > 0)
  process.stderr.write(
    `skipped: ${missing.map((one) => one.requirement).join(', ')} are not installed; see examples/test/support/python-hosts.ts\n`,
  )
interface HostResults {
  readonly version: string
  readonly python: string
  /** `passed`, `skipped: …` or `failed: …`, by case. */
  readonly cases: Readonly<Record<string, string>>
  /** The result of a case that must fail, by what was broken in the gate. */
  readonly breaks: Readonly<Record<string, string>>
}

describe.skipIf(installed.length === 0)('an adapter for Python in its framework', () => {
  let server: RemitServer
  beforeAll(async () => {
    server = await startRemit()
    await createPythonRules(server.client)
  })
  afterAll(() => server.stop())

  const runIn = ({ folder }: Environment, file: string, env: Record<string, string> = {}) =>
    promisify(execFile)(join(folder, 'bin/python'), [file], {
      cwd: join(python, 'tests'),
      maxBuffer: 1 << 24,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        PYTHONPATH: join(python, 'src'),
        // A framework compiles for longer than the cases take.
        PYTHONPYCACHEPREFIX: join(folder, 'pycache'),
        // CrewAI asks a question at its first start, sends reports, and waits for both.
        CREWAI_TESTING: 'true',
        CREWAI_DISABLE_TELEMETRY: 'true',
        OTEL_SDK_DISABLED: 'true',
        REMIT_URL: server.url,
        REMIT_KEY: server.org.key,
        ...env,
      },
    })

  async function results(environment: Environment): Promise<HostResults> {
    const { stdout } = await runIn(environment, 'hosts/cases.py', {
      REMIT_HOST: environment.driver,
    })
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as HostResults
  }

  const found = new Map<string, HostResults>()
  it.each(installed)(
    'holds every case in $requirement',
    async (environment) => {
      const made = await results(environment)
      found.set(environment.requirement, made)

      expect(made.version).toBe(environment.version)
      expect(Object.keys(made.cases).length).toBeGreaterThanOrEqual(13)
      expect(
        Object.entries(made.cases).filter(([, result]) => result.startsWith('failed')),
      ).toEqual([])
    },
    600_000,
  )

  const newest = new Map(installed.map((one) => [one.driver, one]))
  const decided = [...newest.values()].filter(({ driver }) =>
    /^(ag2|langchain|openai_agents)$/.test(driver),
  )
  it.each(decided)(
    'runs what was decided in $requirement',
    async (environment) => {
      const { stderr } = await runIn(environment, 'live_decided.py')

      expect(stderr).toMatch(/^OK \(skipped=[1-7]\)$/m)
    },
    600_000,
  )

  it.each(installed)('shows a broken gate in $requirement', ({ requirement }) => {
    const { breaks = {} } = found.get(requirement) ?? {}

    // A host that runs its tools itself runs them once, whatever the gate does.
    expect(Object.keys(breaks).length).toBeGreaterThanOrEqual(2)
    expect(Object.entries(breaks).filter(([, result]) => !result.startsWith('failed'))).toEqual([])
  })

  it.skipIf(missing.length > 0)('is as docs/python-frameworks.md shows it', async () => {
    const shown = readFileSync(page, 'utf8')
    const made = pageOf(all, found, shown)

    // Another machine has other Pythons.
    const isSame = withoutPythons(made) === withoutPythons(shown)
    await expect(isSame ? shown : made).toMatchFileSnapshot(page)
  })
})

const withoutPythons = (text: string) => text.replaceAll(/ \| 3\.\d+ \| /g, ' | 3 | ')

/** The page: what the cases returned, and the lines that it has of frameworks that are not installed. */
function pageOf(
  every: readonly Environment[],
  found: ReadonlyMap<string, HostResults>,
  shown: string,
): string {
  const cases = new Set<string>()
  const reasons = new Set<string>()
  const rows = every.map(({ name, version, requirement }) => {
    const results = found.get(requirement)
    const start = `| ${name} ${version} | `
    if (results === undefined) {
      for (const line of shown.split('\n')) if (line.startsWith(`- ${name}, `)) reasons.add(line)
      for (const [, at = ''] of shown.split('| framework')[0]?.matchAll(/^- (.+)$/gm) ?? [])
        cases.add(at)
      return shown.split('\n').find((line) => line.startsWith(start)) ?? `${start}–`
    }
    const holding = Object.keys(results.cases).filter((at) => results.cases[at] === 'passed')
    for (const [at, result] of Object.entries(results.cases)) {
      if (!result.startsWith('skipped')) cases.add(at)
      else reasons.add(`- ${name}, ${at}: ${result.replace('skipped: ', '')}`)
    }
    const minor = results.python.split('.').slice(0, 2).join('.')
    return `${start}${minor} | ${holding.length} of ${Object.keys(results.cases).length} |`
  })
  return `# Python frameworks

Each adapter of \`sdks/python\` runs in an agent of its framework with a scripted model, against a running server, with the oldest and the newest version that is supported, on the oldest and the newest Python from 3.10 to 3.13 on the machine. The tests of the repository write this page (\`pnpm test python-hosts -u\` with \`REMIT_TEST_RUNS=full\`, after \`node examples/test/support/python-hosts.ts\`), those of the oldest versions and of the Claude Agent SDK every night. While the gate is broken (a denied call runs, a call runs twice, nothing is settled), cases fail in each version.

The cases:

${[...cases]
  .toSorted()
  .map((at) => `- ${at}`)
  .join('\n')}

| framework | Python | cases that hold |
| --- | --- | --- |
${rows.join('\n')}

The others are not applicable:

${[...reasons].toSorted().join('\n')}
`
}
