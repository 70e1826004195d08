/**
 * `pnpm check`: everything that CI runs. Continues after a failure, so that one run
 * shows all failures; exits with 1 if a check failed. The last line counts the tests. `--no-tests` skips
 * the tests after a `pnpm test`; `--quick` skips the tests of the community edition. With `REMIT_TEST_RUNS=complete`,
 * as every night, nothing is left out.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { STEPS } from './check-steps.ts'
import type { Step } from './check-steps.ts'
import { ROOT } from './staging.ts'
import { readFileSync } from 'node:fs'

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

const failures: string[] = []
/** Steps with a limit of time that failed beside the others. */
const late: Step[] = []
const started = performance.now()
const isComplete = process.env['REMIT_TEST_RUNS'] === 'complete'
const queue = STEPS.filter(({ complete }) => isComplete || !complete)
await Promise.all([
  ...(values['no-tests'] ? [] : [runAll([tests])]),
  ...Array.from({ length: LANES }, () => runAll(queue)),
])
await runAll(late)
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
    const again = code !== 0 && step.timed && left !== late
    const status = code === 0 ? 'ok    ' : again ? 'again ' : 'FAILED'
    console.log(`${status} ${seconds(begun)}  ${step.name}`)
    if (again) late.push(step)
    if (code === 0 || again) continue
    failures.push(step.name)
    const shown = process.stdout.isTTY ? output : stripVTControlCharacters(output)
    console.log(shown.trimEnd())
  }
}

async function runStep({
  command,
  quick = [],
  live,
}: Step): Promise<{ code: number; output: string }> {
  const child = spawn('pnpm', [...command, ...(values.quick ? quick : [])], {
    cwd: ROOT,
    env: { REMIT_TEST_RUNS: 'full', ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
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

/** The used part of vitest's JSON report. */
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

/**
 * Returns one plain line from vitest's JSON report: `N passed, N failed, N skipped`. A file that failed
 * without a failed test (it did not load, or a hook failed) is one failure; so is a run that failed
 * although all its tests passed, or before it could write a report.
 */
function countTests(path: string, hasPassed: boolean): string {
  const found = readReport(path)
  if (found === undefined) return '0 passed, 1 failed'
  const broken = found.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  )
  const failed = found.numFailedTests + broken.length
  const skipped = found.numPendingTests + found.numTodoTests
  return [
    `${found.numPassedTests} passed`,
    `${failed === 0 && !hasPassed ? 1 : failed} failed`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(', ')
}

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return undefined
  }
}
