import { setTimeout as sleep } from 'node:timers/promises'
import { on, openDatabase } from '@remit/core'
import type { CoreTables, Database } from '@remit/core'
import type { Tables } from '../src/tables/schema.ts'
import { Lease } from '../src/watch/lease.ts'
import { fill } from './fill.ts'
import type { BenchTools, Result, Server } from './suites.ts'

const MAX_ROUNDS = 7
/** Counting begins every five seconds, so that a round has three beginnings. */
const ROUND_SECONDS = 15
const PER_SECOND = 5_000
const MOST_COST = 1.02
/** Five seconds until counting begins, and as long for it. */
const MOST_LAG_SECONDS = 10
const ENTRIES_BEFORE = 1_000
const HOUR_MS = 3_600_000

/**
 * Decisions with and without the counting of statistics, by turns on one server: what the main thread
 * spends on a decision, how far the counts are behind, and how fast they catch up.
 */
export async function statsSuite(
  dialect: 'sqlite' | 'postgres',
  { rounds, median, ratio, startRemit, traffic }: BenchTools,
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
  const without: number[] = []
  const counted: number[] = []
  const rates: number[] = []
  const caughtUp: number[] = []
  const lags: number[] = []
  const decide = async (into: number[]): Promise<number> => {
    const before = await usedBy(server, db)
    const { headers } = server
    const { perSecond } = await traffic({ ...LOAD, headers, url: `${server.url}/v1/authorize` })
    const after = await usedBy(server, db)
    into.push((after.seconds - before.seconds) / (after.entries - before.entries))
    return perSecond
  }
  try {
    await decide([])
    for (let round = 0; round < Math.min(rounds, MAX_ROUNDS); round++) {
      const alone = async () => {
        await counting.stop()
        await decide(without)
        await counting.start()
        caughtUp.push(await catchUp(db))
      }
      const both = async () => {
        const perSecond = await decide(counted)
        rates.push(perSecond)
        lags.push((await behind(db)) / perSecond)
      }
      // A ledger that grows is in favor of the first.
      for (const step of round % 2 === 0 ? [alone, both] : [both, alone]) await step()
    }
  } finally {
    await db.destroy()
    await server.stop()
  }
  const micro = (values: number[]) => `${(median(values) * 1e6).toFixed(1)} µs`
  return [
    {
      name: `cost of a decision with statistics on ${dialect}, of without`,
      value: ratio(counted, without),
      goal: { below: MOST_COST },
      detail: `${micro(counted)} against ${micro(without)} of the main thread, ${Math.round(median(rates))} decisions/s`,
    },
    {
      name: `statistics on ${dialect}, decisions counted a second`,
      value: median(caughtUp),
      goal: { atLeast: PER_SECOND },
      detail: 'after a round without',
    },
    {
      name: `statistics on ${dialect}, behind the ledger under load`,
      value: Math.max(...lags),
      unit: ' s',
      goal: { below: MOST_LAG_SECONDS },
      detail: `at most, at ${Math.round(median(rates))} decisions/s`,
    },
  ]
}

const LOAD = {
  bodies: Array.from({ length: 50 }, (_, i) => ({
    agent_id: `agent-${i}`,
    action: i % 4 === 0 ? 'docs.read' : 'payments.transfer',
    context: { amount: i * 10 },
  })),
  connections: 64,
  seconds: ROUND_SECONDS,
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

/** Seconds of the main thread and entries of the ledger. */
async function usedBy(server: Server, db: Database<Tables>) {
  const { mainCpuSeconds } = await server.usage()
  return { seconds: mainCpuSeconds, entries: (await progressOf(db)).size }
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
