import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@remit/core/db/open'
import type { Database } from '@remit/core/db/open'
import { on } from '@remit/core/db'
import type { CoreTables } from '@remit/core/db'
import { sql } from 'kysely'
import type { Tables } from '../src/tables/schema.ts'
import { Lease } from '../src/followers/follower.ts'
import { databaseCpuSeconds, serverOf } from './database-cpu.ts'
import { fill } from './fill.ts'
import { pairedRatio } from './paired.ts'
import type { BenchTools, Result, Server } from './suites.ts'

/** Pairs per round of the other suites: the noise of a pair is larger than the cost. */
const PAIRS = 2
/** Counting begins every five seconds: half a pair has one beginning. */
const HALF_SECONDS = 5
const SUSTAINED_SECONDS = 20
const PER_SECOND = 5_000
const MOST_COST = 1.02
/** Five seconds until counting begins, and as long for it. */
const MOST_LAG_SECONDS = 10
const ENTRIES_BEFORE = 1_000
const HOUR_MS = 3_600_000

/** Processor seconds and decisions since the start. */
interface Used {
  readonly main: number
  /** Also the thread that counts, and the database. */
  readonly all: number
  readonly entries: number
}

/**
 * Decisions with and without the counting of statistics, by turns on one server: the processor time of a
 * decision, how far the counts are behind, and how fast they catch up.
 */
export async function statsSuite(
  dialect: 'sqlite' | 'postgres',
  { rounds, startRemit, traffic }: BenchTools,
): Promise<Result[]> {
  let url = ''
  const server = await startRemit({
    dialect,
    fill: (database) => {
      url = database.databaseUrl
      return fill(database, ENTRIES_BEFORE)
    },
  })
  const db = on<Tables>(openDatabase<CoreTables>(url))
  const counting = switchOf(db)
  const usedNow = await meterOf(server, db, dialect)
  const without: Cost[] = []
  const counted: Cost[] = []
  const load = async (seconds: number) => {
    const { headers } = server
    return traffic({ ...LOAD, seconds, headers, url: `${server.url}/v1/authorize` })
  }
  const measure = async (into: Cost[]) => {
    const before = await usedNow()
    await load(HALF_SECONDS)
    into.push(costOf(before, await usedNow()))
  }
  try {
    await load(HALF_SECONDS)
    for (let pair = 0; pair < rounds * PAIRS; pair++) {
      const alone = async () => {
        await counting.stop()
        await measure(without)
        await counting.start()
        await catchUp(db)
      }
      const both = () => measure(counted)
      // A ledger that grows is in favor of the first.
      for (const step of pair % 2 === 0 ? [alone, both] : [both, alone]) await step()
    }
    const { perSecond } = await load(SUSTAINED_SECONDS)
    const lag = (await behind(db)) / perSecond
    await counting.stop()
    await load(SUSTAINED_SECONDS)
    await counting.start()
    const counts = await catchUp(db)
    return [
      costResult(`statistics on ${dialect}, main thread per decision`, 'main', counted, without, {
        below: MOST_COST,
      }),
      costResult(
        `statistics on ${dialect}, all threads and the database`,
        'all',
        counted,
        without,
        null,
      ),
      {
        name: `statistics on ${dialect}, decisions counted a second`,
        value: counts,
        goal: { atLeast: PER_SECOND },
        detail: `after ${SUSTAINED_SECONDS} s without`,
      },
      {
        name: `statistics on ${dialect}, behind the ledger under load`,
        value: lag,
        unit: ' s',
        goal: { below: MOST_LAG_SECONDS },
        detail: `at ${Math.round(perSecond)} decisions/s`,
      },
    ]
  } finally {
    await db.destroy()
    await server.stop()
  }
}

/** Processor seconds of one decision. */
type Cost = Omit<Used, 'entries'>

const costOf = (before: Used, after: Used): Cost => {
  const decisions = after.entries - before.entries
  return {
    main: (after.main - before.main) / decisions,
    all: (after.all - before.all) / decisions,
  }
}

function costResult(
  name: string,
  what: keyof Cost,
  counted: readonly Cost[],
  without: readonly Cost[],
  goal: Result['goal'],
): Result {
  const [mine, base] = [counted, without].map((costs) => costs.map((cost) => cost[what]))
  const { median, low, high } = pairedRatio(mine ?? [], base ?? [])
  const micro = (values: readonly number[] = []) =>
    (
      pairedRatio(
        values,
        values.map(() => 1),
      ).median * 1e6
    ).toFixed(1)
  return {
    name,
    value: median,
    goal,
    detail: `${low.toFixed(3)} to ${high.toFixed(3)} (95 %) in ${counted.length} pairs; ${micro(mine)} against ${micro(base)} µs`,
  }
}

const LOAD = {
  bodies: Array.from({ length: 50 }, (_, i) => ({
    agent_id: `agent-${i}`,
    action: i % 4 === 0 ? 'docs.read' : 'payments.transfer',
    context: { amount: i * 10 },
  })),
  connections: 64,
}

/** Counting stops while another process holds its lease. */
function switchOf(db: Database<Tables>) {
  const lease = new Lease(db, 'stats', 'bench', HOUR_MS)
  return {
    async stop() {
      do await db.deleteFrom('process_lease').where('name', '=', 'stats').execute()
      while (!(await lease.hold(Date.now())))
    },
    start: () => lease.release(),
  }
}

/** Reads the processor time of the server and of its database. */
async function meterOf(server: Server, db: Database<Tables>, dialect: 'sqlite' | 'postgres') {
  const pid =
    dialect === 'postgres'
      ? (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid
      : undefined
  const database = pid === undefined ? undefined : serverOf(pid)
  return async (): Promise<Used> => {
    const { mainCpuSeconds, cpuSeconds } = await server.usage()
    return {
      main: mainCpuSeconds,
      all: cpuSeconds + (database === undefined ? 0 : databaseCpuSeconds(database)),
      entries: (await progressOf(db)).size,
    }
  }
}

async function progressOf(db: Database<Tables>): Promise<{ size: number; counted: number }> {
  const { size, counted } = await db
    .selectFrom('ledger_head as h')
    .leftJoin('stat_progress as p', 'p.org_id', 'h.org_id')
    .select(['h.size', 'p.next_seq as counted'])
    .executeTakeFirstOrThrow()
  return { size, counted: counted ?? 0 }
}

async function behind(db: Database<Tables>): Promise<number> {
  const { size, counted } = await progressOf(db)
  return size - counted
}

/** Waits until everything is counted; returns the entries per second since counting began. */
async function catchUp(db: Database<Tables>): Promise<number> {
  const before = (await progressOf(db)).counted
  let first: { at: number; counted: number } | null = null
  for (;;) {
    const { size, counted } = await progressOf(db)
    const at = performance.now()
    if (counted > before) first ??= { at, counted }
    if (first && counted === size)
      return at > first.at ? ((counted - first.counted) / (at - first.at)) * 1_000 : Infinity
    await sleep(20)
  }
}
