/**
 * `pnpm check`: everything that CI runs. Continues after a failure, so that one run
 * shows all failures; exits with 1 if a check failed. The last line counts the tests. `--no-tests` skips
 * the tests after a `pnpm test`; `--quick` skips the tests of the community edition.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { ROOT } from './staging.ts'
import { countTests } from './test-report.ts'

interface Step {
  readonly name: string
  /** Arguments of `pnpm`. */
  readonly command: readonly string[]
  /** Prints its output while it runs; the others print theirs only on failure. */
  readonly live?: true
}

const { values } = parseArgs({
  options: {
    'no-tests': { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})

const temp = await mkdtemp(join(tmpdir(), 'remit-check-'))
const report = join(temp, 'tests.json')

const tests: Step = {
  // One of the tests packs the packages and checks the tarballs.
  name: 'tests and packaging',
  command: ['test', '--reporter=default', '--reporter=json', `--outputFile=${report}`],
  live: true,
}

/** Steps that run at a time, beside the tests: these often wait for databases and programs. */
const LANES = 2

const steps: readonly Step[] = [
  { name: 'lint and types', command: ['exec', 'oxlint', '--type-check'] },
  // The grammars alone must train to the recorded weights, bit by bit.
  { name: 'guard training', command: ['--filter', '@remit/guard-training', 'train', '--check'] },
  { name: 'spelling', command: ['lint:words'] },
  { name: 'unused code', command: ['exec', 'knip'] },
  { name: 'openapi lint', command: ['lint:openapi'] },
  { name: 'openapi.json', command: ['openapi', '--check'] },
  { name: 'license boundary', command: ['exec', 'turbo', 'boundaries'] },
  { name: 'format', command: ['exec', 'oxfmt', '--check'] },
  {
    // Builds both editions, in copies of the tree. The tests have built the open packages by then.
    name: 'community edition',
    command: ['exec', 'node', 'scripts/community.ts', ...(values.quick ? ['--quick'] : [])],
    live: true,
  },
]

/** Runs alone: it has a limit of time. */
const freshCopy: Step = {
  name: 'fresh copy',
  command: ['exec', 'node', 'scripts/fresh-clone.ts'],
  live: true,
}

const failures: string[] = []
const started = performance.now()
const queue = [...steps]
await Promise.all([
  ...(values['no-tests'] ? [] : [runAll([tests])]),
  ...Array.from({ length: LANES }, () => runAll(queue)),
])
await runAll([freshCopy])
console.log(
  failures.length === 0
    ? `${seconds(started)}: all checks passed.`
    : `${seconds(started)}: ${failures.length} checks failed: ${failures.join(', ')}.`,
)
if (!values['no-tests']) console.log(countTests(report, !failures.includes(tests.name)))
await rm(temp, { recursive: true })
process.exitCode = failures.length === 0 ? 0 : 1

async function runAll(left: Step[]): Promise<void> {
  for (let step = left.shift(); step; step = left.shift()) {
    const begun = performance.now()
    const { code, output } = await runStep(step)
    console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${seconds(begun)}  ${step.name}`)
    if (code === 0) continue
    failures.push(step.name)
    const shown = process.stdout.isTTY ? output : stripVTControlCharacters(output)
    console.log(shown.trimEnd())
  }
}

async function runStep({ command, live }: Step): Promise<{ code: number; output: string }> {
  const child = spawn('pnpm', command, {
    cwd: ROOT,
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', REMIT_TEST_RUNS: 'full' },
    stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe'],
  })
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code: code ?? 1, output }
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1).padStart(6)} s`
}
