/**
 * `pnpm soak`: an hour at half of the top rate on PostgreSQL, while a server restarts every minute and
 * the database every ten, both without a goodbye. The top rate is measured first. Ends with 1 when an
 * answered decision is lost, the ledger does not verify, or a goal is missed.
 *
 * `--minutes N` (60) of load, `--server-every N` (60) seconds, `--database-every N` (600, at most half
 * of the time) seconds, `--rate N` decisions a second instead of half of the top rate.
 */
import { mkdtempSync, readFileSync } from 'node:fs'
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
import { openDatabase } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { verifyDatabase } from '@remit/core/ledger/records'
import { listOrganizations } from '@remit/core/orgs'
import { Agent, request } from 'node:http'
import { ASK } from './bench/requests.ts'

const ROWS = 5_000

/** Compares what clients were told with the ledger, and verifies it. */
async function account(
  databaseUrl: string,
  answered: ReadonlyMap<number, string>,
): Promise<{ readonly lost: number; readonly entries: number; readonly status: string }> {
  const db = openDatabase<CoreTables>(databaseUrl)
  try {
    const [organization] = await listOrganizations(db)
    const orgId = organization?.id ?? ''
    let found = 0
    for (let after = -1; ;) {
      const rows = await db
        .selectFrom('ledger_entry')
        .select(['seq', 'hash'])
        .where('org_id', '=', orgId)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(ROWS)
        .execute()
      for (const { seq, hash } of rows) {
        const told = answered.get(seq)
        if (told !== undefined && hash.startsWith(told)) found++
      }
      const last = rows.at(-1)
      if (!last) break
      after = last.seq
    }
    const { status, checked } = await verifyDatabase(db, orgId)
    return { lost: answered.size - found, entries: checked.entries, status }
  } finally {
    await db.destroy()
  }
}

/** The slope of a line through the points, by least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (pick: 0 | 1) => points.reduce((sum, point) => sum + point[pick], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}

const MIB = 2 ** 20
const PAGE = 4096
const SECONDS = 3600

/** The samples, and the growth in MiB per hour that an hour of load must stay below. */
const ROLES = {
  'heap of the server that is not restarted': 20,
  'resident memory of that server': 60,
  'own memory of PostgreSQL, all processes': 60,
} as const

type Role = keyof typeof ROLES

/** Memory of the processes of a soak, by their roles. */
class Memory {
  readonly #server: BenchServer
  readonly #database: PostgresNode
  readonly #samples = new Map<Role, [seconds: number, mib: number][]>()
  count = 0

  constructor(server: BenchServer, database: PostgresNode) {
    this.#server = server
    this.#database = database
  }

  async sample(second: number): Promise<void> {
    this.count++
    const add = (role: Role, bytes: number) => {
      const known = this.#samples.get(role) ?? []
      known.push([second, bytes / MIB])
      this.#samples.set(role, known)
    }
    // After a garbage collection.
    add('heap of the server that is not restarted', await this.#server.heapBytes())
    add('resident memory of that server', (await this.#server.usage()).rssBytes)
    add('own memory of PostgreSQL, all processes', ownBytes(this.#database.processes()))
  }

  /** The growth in an hour. A shorter soak has no goal: the first minutes fill caches. */
  results(seconds: number): Result[] {
    return [...this.#samples].map(([role, samples]) => {
      const settled = samples.filter(([second]) => second > seconds / 4)
      return {
        name: role,
        value: slopeOf(settled) * SECONDS,
        unit: ' MiB/h',
        goal: seconds >= SECONDS ? { below: ROLES[role] } : null,
        detail: `${settled[0]?.[1].toFixed(0)} MiB after a quarter, ${settled.at(-1)?.[1].toFixed(0)} MiB at the end`,
      }
    })
  }
}

/** Resident bytes that a process shares with no other; 0 for one that has ended. */
function ownBytes(pids: readonly number[]): number {
  let pages = 0
  for (const pid of pids) {
    try {
      const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8')
        .split(' ')
        .map(Number)
      pages += resident - shared
    } catch {
      // Connections come and go.
    }
  }
  return pages * PAGE
}

const CLIENTS = 32
const RETRY_MS = 20
/** Enough of a hash to tell entries apart. */
const HASH_LETTERS = 16

/** Decisions at a steady rate, sent to the next server where one does not answer. */
class PacedLoad {
  /** The start of the hash of each answered entry, by its sequence number. */
  readonly answered = new Map<number, string>()
  /** Milliseconds of each answer, with the time since the start of the load. */
  readonly delays: { readonly atMs: number; readonly tookMs: number }[] = []
  refused = 0
  readonly #agent = new Agent({ keepAlive: true })
  readonly #urls: readonly string[]
  readonly #key: string
  readonly #began = performance.now()
  readonly #clients: Promise<void>[]
  #isOver = false

  /** `urls` may change while it runs; without a rate, each client asks again at once. */
  constructor(urls: readonly string[], key: string, perSecond: number | null) {
    this.#urls = urls
    this.#key = key
    const pauseMs = perSecond === null ? 0 : (1000 * CLIENTS) / perSecond
    this.#clients = Array.from({ length: CLIENTS }, (_, i) => this.#client(i, pauseMs))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients)
    this.#agent.destroy()
  }

  async #client(name: number, pauseMs: number): Promise<void> {
    // The clients start one after the other, so that the rate is even.
    let due = performance.now() + (pauseMs * name) / CLIENTS
    for (let turn = name; !this.#isOver; turn++) {
      const wait = due - performance.now()
      if (wait > 0) await setTimeout(wait)
      // Requests that a stop of the database delayed are left out.
      due = Math.max(due, performance.now() - pauseMs) + pauseMs
      if (!(await this.#ask(this.#urls[turn % this.#urls.length] ?? ''))) {
        this.refused++
        await setTimeout(RETRY_MS)
      }
    }
  }

  #ask(url: string): Promise<boolean> {
    const began = performance.now()
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#key}` }
    return new Promise((resolve) => {
      const asked = request(
        `${url}/v1/authorize`,
        { method: 'POST', agent: this.#agent, headers },
        (response) => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (part: string) => (text += part))
          response.on('error', () => resolve(false))
          response.on('end', () => resolve(response.statusCode === 200 && this.#keep(text, began)))
        },
      )
      asked.on('error', () => resolve(false))
      asked.end(JSON.stringify(ASK))
    })
  }

  #keep(text: string, began: number): boolean {
    const { ledger } = JSON.parse(text) as { ledger: { seq: number; hash: string } }
    const now = performance.now()
    this.answered.set(ledger.seq, ledger.hash.slice(0, HASH_LETTERS))
    this.delays.push({ atMs: now - this.#began, tookMs: now - began })
    return true
  }
}

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
