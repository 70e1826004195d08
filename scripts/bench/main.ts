/**
 * `pnpm bench [suite …]`: ratios against a baseline measured in the same run, medians of the rounds.
 * Ends with 1 when a goal is missed. `--rounds N` (9), `--seconds N` (2) a round of load,
 * `--entries N` (1000000) for the large ledgers. `isolation` is both databases; `--attack NAME` picks
 * from its attacks; `all` are all of them at once.
 */
import { parseArgs } from 'node:util'
import type { Dialect } from '@remit/core/db'
import { failoverSuite } from './failover.ts'
import { isolationSuite } from './isolation/suite.ts'
import { guardSuite } from './guard.ts'
import { httpSuite } from './http.ts'
import { mcpSuite } from './mcp.ts'
import { millionSuite } from './million.ts'
import { packageSuites } from './package-suites.ts'
import { formatResult, isMet } from '@remit/testing/bench'
import type { Result } from '@remit/testing/bench'
import { scaleSuite } from './scale.ts'

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
  failover: () => failoverSuite(rounds),
  scale: () => scaleSuite(rounds, seconds),
  million: () => millionSuite(Number(values.entries), Math.min(rounds, 5)),
  'isolation-sqlite': () => isolation('sqlite'),
  'isolation-postgres': () => isolation('postgres'),
  mcp: () => mcpSuite(rounds),
  guard: () => guardSuite(rounds),
  ...(await packageSuites({ rounds, entries: Number(values.entries) })),
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
