/**
 * Measures the inner loop on an idle machine: `node scripts/inner-loop.ts [--all]`. Prints the wall time
 * and CPU time of one pure test file and of six, and with `--all` those of `pnpm test`.
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { all } = parseArgs({ options: { all: { type: 'boolean', default: false } } }).values
const RULES = 'packages/governance-enterprise/src'
const RUNS: readonly (readonly [string, readonly string[]])[] = [
  ['one pure file', [`${RULES}/policies/evaluate.test.ts`]],
  ['six pure files', [`${RULES}/budgets/`]],
  ...(all ? ([['all tests', []]] as const) : []),
]

for (const [name, files] of RUNS) {
  // Node knows no CPU time of the processes that a child started; the shell does.
  const script = 'TIMEFORMAT="%R %U %S"; { time pnpm exec vitest run "$@" >/dev/null 2>&1; } 2>&1'
  const times = execFileSync('bash', ['-c', script, 'bash', ...files], { encoding: 'utf8' })
  const [wall = 0, user = 0, system = 0] = times.trim().split(' ').map(Number)
  console.log(`${name}: ${wall.toFixed(1)} s, ${(user + system).toFixed(1)} s of CPU`)
}
