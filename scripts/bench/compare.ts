/**
 * `pnpm bench:compare CHECKOUT`: decisions per CPU second of this tree against those of another
 * checkout with its packages installed. The two servers run at the same time and get the load in turns, since
 * the machine differs more from minute to minute than versions do.
 * `--dialect postgres` (sqlite), `--rounds N` (20), `--seconds N` (1) a round.
 */
import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type * as installations from './installation.ts'
import { median, quantile } from '@remit/testing/bench'
import type * as requests from './requests.ts'
import type * as servers from './servers.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dialect: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '1' },
  },
})
const { dialect } = values
const [other] = positionals
if (other === undefined || positionals.length > 1 || !/^(sqlite|postgres)$/.test(dialect)) {
  console.error('Usage: pnpm bench:compare CHECKOUT [--dialect sqlite|postgres] [--rounds N]')
  process.exit(2)
}

const WARM_DECISIONS = 60_000

/** Each version runs with its own scripts, whose interface may be older. */
async function start(root: string) {
  const from = (file: string) => import(pathToFileURL(resolve(root, 'scripts/bench', file)).href)
  const { createInstallation } = (await from('installation.ts')) as typeof installations
  const { startServer, limitSpend, load } = (await from('servers.ts')) as typeof servers
  const { ASK } = (await from('requests.ts')) as typeof requests
  const installation = await createInstallation(dialect as 'sqlite' | 'postgres')
  const server = await startServer({ kind: 'remit', ...installation })
  await limitSpend(server)
  return {
    run: (seconds: number): Promise<servers.Round> =>
      load(server, { path: '/v1/authorize', body: ASK, connections: 64, seconds }),
    async stop() {
      await server.stop()
      await installation.remove()
    },
  }
}

const sides = {
  before: await start(other),
  now: await start(resolve(import.meta.dirname, '../..')),
}
for (const { run } of Object.values(sides))
  for (let done = 0; done < WARM_DECISIONS;) done += (await run(2)).perSecond * 2

const rates = { before: [] as number[], now: [] as number[] }
for (let round = 0; round < Number(values.rounds); round++)
  // The first of a pair has the shorter ledger.
  for (const name of round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const))
    rates[name].push((await sides[name].run(Number(values.seconds))).perCpuSecond)
for (const side of Object.values(sides)) await side.stop()

const ratios = rates.now.map((rate, round) => rate / (rates.before[round] ?? NaN))
const of = (share: number) => quantile(ratios, share).toFixed(3)
console.log(
  `POST /v1/authorize, ${dialect}: ${median(ratios).toFixed(3)} of the other version (quartiles ${of(0.25)} to ${of(0.75)}, ${ratios.length} pairs); ${Math.round(median(rates.now))} against ${Math.round(median(rates.before))} decisions per CPU second`,
)
