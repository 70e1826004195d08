/**
 * `pnpm bench [suite …]`: ratios against a baseline measured in the same run, medians of the rounds.
 * Ends with 1 when a goal is missed. `--rounds N` (9), `--seconds N` (2) a round of load,
 * `--entries N` (1000000) for the large ledgers. `isolation` is both databases; `--attack NAME` picks
 * from its attacks; `all` are all of them at once.
 */
import { parseArgs } from 'node:util'
import type { Dialect } from '@remit/core/db'
import { appendSuite } from './append.ts'
import { failoverSuite } from './failover.ts'
import { isolationSuite } from './isolation/suite.ts'
import { gateSuite } from './gate.ts'
import { groupSuite } from './group.ts'
import { guardSuite } from './guard.ts'
import { httpSuite } from './http.ts'
import { mcpMemorySuite } from './mcp-memory.ts'
import { mcpSuite } from './mcp.ts'
import { millionSuite } from './million.ts'
import { packageSuites } from './package-suites.ts'
import { processesSuite } from './processes.ts'
import { formatResult, isMet } from './report.ts'
import type { Result } from './report.ts'
import { scaleSuite } from './scale.ts'
import { scorersSuite } from './scorers.ts'
import { tracingSuite } from './tracing.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    entries: { type: 'string', default: '1000000' },
    attack: { type: 'string', multiple: true, default: [] },
  },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

/** An attack takes seconds: queues need time to fill. */
const isolation = (dialect: Dialect) => isolationSuite(dialect, seconds * 4, values.attack)

const suites: Readonly<Record<string, () => Promise<Result[]> | AsyncIterable<Result>>> = {
  'http-sqlite': () => httpSuite('sqlite', rounds, seconds),
  'http-postgres': () => httpSuite('postgres', rounds, seconds),
  'group-sqlite': () => groupSuite('sqlite', rounds, seconds),
  'group-postgres': () => groupSuite('postgres', rounds, seconds),
  processes: () => processesSuite(rounds, seconds),
  failover: () => failoverSuite(rounds),
  tracing: () => tracingSuite(rounds, seconds),
  append: () => appendSuite(rounds),
  scale: () => scaleSuite(rounds, seconds),
  million: () => millionSuite(Number(values.entries), Math.min(rounds, 5)),
  'isolation-sqlite': () => isolation('sqlite'),
  'isolation-postgres': () => isolation('postgres'),
  gate: () => gateSuite(rounds),
  mcp: () => mcpSuite(rounds),
  'mcp-memory': () => mcpMemorySuite(),
  guard: () => guardSuite(rounds),
  scorers: () => scorersSuite(rounds, seconds),
  ...(await packageSuites({ rounds, seconds, entries: Number(values.entries) })),
}

const wanted =
  positionals.length > 0
    ? positionals.flatMap((name) =>
        name === 'isolation' ? ['isolation-sqlite', 'isolation-postgres'] : name,
      )
    : Object.keys(suites)
const unknown = wanted.filter((name) => !(name in suites))
if (unknown.length > 0) {
  console.error(
    `Unknown suite ${unknown.join(', ')}; the suites are ${Object.keys(suites).join(', ')}`,
  )
  process.exit(2)
}

let met = true
for (const name of wanted) {
  console.log(`# ${name}`)
  for await (const result of (await suites[name]?.()) ?? []) {
    console.log(formatResult(result))
    met &&= isMet(result)
  }
}
process.exit(met ? 0 : 1)
