/**
 * `pnpm soak`: half of the top rate on PostgreSQL, while a server restarts every minute and the
 * database every ten, both without a goodbye. Ends with 1 when an answered decision is lost, the
 * ledger does not verify, or a goal is missed.
 *
 * `--seconds N` (3600), `--server-every N` (60) and `--database-every N` (600) seconds, `--rate N`
 * decisions a second instead of half of the measured top rate.
 */
import { generateKeyPairSync } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PostgresNode } from '@remit/core/testing'
import { formatResult, isMet, quantile } from './bench/report.ts'
import type { Result } from './bench/report.ts'
import { limitSpend, startServer } from './bench/servers.ts'
import type { BenchServer } from './bench/servers.ts'
import { account, slopeOf } from './soak/account.ts'
import { PacedLoad } from './soak/paced-load.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3600' },
    'server-every': { type: 'string', default: '60' },
    'database-every': { type: 'string', default: '600' },
    rate: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const serverEvery = Number(values['server-every'])
const databaseEvery = Number(values['database-every'])
const TOP_SECONDS = 15
const STARTS = 10
const MIB = 2 ** 20

const database = await PostgresNode.create({ max_wal_size: '512MB' })
const signingKey = generateKeyPairSync('ed25519')
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()
const spec = { kind: 'remit', databaseUrl: database.url, signingKey } as const
/** Never restarted: its memory is measured. */
const steady = await startServer(spec)
const { organization } = steady
await limitSpend(steady)
const restarts = { server: 0, database: 0, failed: 0 }
const replaced: BenchServer[] = [await next(), await next()]
const urls = [steady, ...replaced].map(({ url }) => url)

const rate = values.rate === undefined ? (await topRate()) / 2 : Number(values.rate)
console.log(`${Math.round(rate)} decisions/s for ${seconds} s`)
const load = new PacedLoad(urls, organization.key, rate)
const memory: [seconds: number, mib: number][] = []
const began = performance.now()
for (let second = 0; second < seconds;) {
  await setTimeout(1000)
  second = (performance.now() - began) / 1000
  if (second >= 10 * (memory.length + 1)) memory.push([second, (await steady.heapBytes()) / MIB])
  // Not in the last moments: everything is up at the end.
  if (second > seconds - 10) continue
  if (second >= databaseEvery * (restarts.database + 1)) await restartDatabase()
  else if (second >= serverEvery * (restarts.server + 1)) await restartServer()
}
await load.stop()
await Promise.all([steady, ...replaced].map((server) => server.stop()))
const { lost, entries, status } = await account(database.url, load.answered)
await database.remove()

/** The first part of it warms up. */
const settled = memory.filter(([second]) => second > seconds / 4)
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
  {
    name: 'heap of the server that is not restarted',
    value: slopeOf(settled) * 3600,
    unit: ' MiB/h',
    goal: seconds >= 3600 ? { below: 20 } : null,
    detail: `${settled[0]?.[1].toFixed(0)} MiB after a quarter, ${settled.at(-1)?.[1].toFixed(0)} MiB at the end`,
  },
]
for (const result of results) console.log(formatResult(result))
process.exit(status === 'ok' && results.every(isMet) ? 0 : 1)

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
