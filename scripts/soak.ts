/**
 * `pnpm soak`: an hour at half of the top rate on PostgreSQL, while a server restarts every minute and
 * the database every ten, both without a goodbye. The top rate is measured first. Ends with 1 when an
 * answered decision is lost, the ledger does not verify, or a goal is missed.
 *
 * `--minutes N` (60) of load, `--server-every N` (60) seconds, `--database-every N` (600, at most half
 * of the time) seconds, `--rate N` decisions a second instead of half of the top rate.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { generateLedgerKey } from '@remit/core/ledger/proofs'
import { PostgresNode } from '@remit/testing'
import { formatResult, isMet, quantile } from '@remit/testing/bench'
import type { Result } from '@remit/testing/bench'
import { limitSpend, startServer } from './bench/servers.ts'
import type { BenchServer } from './bench/servers.ts'
import { account } from './soak/account.ts'
import { Memory } from './soak/memory.ts'
import { PacedLoad } from './soak/paced-load.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    'server-every': { type: 'string', default: '60' },
    'database-every': { type: 'string', default: '600' },
    rate: { type: 'string' },
  },
})
const seconds = Number(values.minutes) * 60
const serverEvery = Number(values['server-every'])
const databaseEvery = Math.min(Number(values['database-every']), seconds / 2)
const TOP_SECONDS = 15
const STARTS = 10
/** Between two samples of the memory. */
const SAMPLE_SECONDS = 10

// On the disk: an hour of entries does not fit into a file system in memory.
const home = mkdtempSync(join(tmpdir(), 'remit-soak-'))
const database = await PostgresNode.create({ max_wal_size: '512MB' }, home)
const signingKey = generateLedgerKey()
const spec = { kind: 'remit', databaseUrl: database.url, signingKey } as const
/** Never restarted: its memory is measured. */
const steady = await startServer(spec)
const { organization } = steady
await limitSpend(steady)
const restarts = { server: 0, database: 0, failed: 0 }
const replaced: BenchServer[] = [await next(), await next()]
const urls = [steady, ...replaced].map(({ url }) => url)

const rate = values.rate === undefined ? (await topRate()) / 2 : Number(values.rate)
console.log(`${Math.round(rate)} decisions/s for ${values.minutes} minutes`)
const load = new PacedLoad(urls, organization.key, rate)
const memory = new Memory(steady, database)
const began = performance.now()
for (let second = 0; second < seconds;) {
  await setTimeout(1000)
  second = (performance.now() - began) / 1000
  if (second >= SAMPLE_SECONDS * (memory.count + 1)) await memory.sample(second)
  // Not in the last moments: everything is up at the end.
  if (second > seconds - 10) continue
  // In the middle of a period, so that the first and the last ten minutes have one each.
  if (second >= databaseEvery * (restarts.database + 0.5)) await restartDatabase()
  else if (second >= serverEvery * (restarts.server + 1)) await restartServer()
}
await load.stop()
await Promise.all([steady, ...replaced].map((server) => server.stop()))
const { lost, entries, status } = await account(database.url, load.answered)
await database.remove()

const results: Result[] = [
  {
    name: 'answered decisions that are lost',
    value: lost,
    goal: { below: 1 },
    detail: `of ${load.answered.size}, with ${restarts.server} restarts of servers and ${restarts.database} of the database, ${restarts.failed} failed starts; ${load.refused} refused; ledger of ${entries} entries: ${status}`,
  },
  {
    name: 'p99 of the last sixth, of the first',
    value: p99(5 / 6) / p99(0),
    goal: { below: 1.5 },
    detail: `${p99(5 / 6).toFixed(1)} ms against ${p99(0).toFixed(1)} ms`,
  },
  ...memory.results(seconds),
]
for (const result of results) console.log(formatResult(result))
const isPassed = status === 'ok' && results.every(isMet)
console.log(isPassed ? 'passed' : 'failed')
process.exit(isPassed ? 0 : 1)

async function topRate(): Promise<number> {
  const all = new PacedLoad(urls, organization.key, null)
  await setTimeout(TOP_SECONDS * 1000)
  await all.stop()
  return all.answered.size / TOP_SECONDS
}

/** Starts a server as a supervisor does: again after a start without the database. */
async function next(): Promise<BenchServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startServer({ ...spec, organization })
    } catch (error) {
      if (attempt === STARTS) throw error
      restarts.failed++
      await setTimeout(1000)
    }
  }
}

async function restartServer(): Promise<void> {
  const at = restarts.server++ % replaced.length
  await replaced[at]?.stop()
  const server = await next()
  replaced[at] = server
  urls[1 + at] = server.url
}

async function restartDatabase(): Promise<void> {
  restarts.database++
  await database.kill()
  await database.start()
}

/** Of the sixth that begins after this share of the time. */
function p99(from: number): number {
  const [begin, end] = [from * seconds * 1000, (from + 1 / 6) * seconds * 1000]
  const part = load.delays.filter(({ atMs }) => atMs >= begin && atMs < end)
  return quantile(
    part.map(({ tookMs }) => tookMs),
    0.99,
  )
}
