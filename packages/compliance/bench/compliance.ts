import { setTimeout as sleep } from 'node:timers/promises'
import { fill } from './fill.ts'
import { median, quantile } from '@remit/testing/bench'
import type { BenchTools, MeasuredServer, Result } from '@remit/testing/bench'

const MAX_ROUNDS = 5
/** The p99 of a shorter series would be its one or two slowest. */
const SERIES_SECONDS = 5
const PER_SECOND = 100
const MEBI = 2 ** 20
const VERIFIED_PER_SECOND = { sqlite: 300_000, postgres: 150_000 } as const

interface Verification {
  readonly valid: boolean
  readonly checked: { readonly entries: number }
  readonly duration_ms: number
}

/**
 * A large ledger, one worker: what it verifies a second, how long a report takes, what that costs the
 * server in memory, and what those who authorize meanwhile notice of it.
 */
export async function complianceSuite(
  dialect: 'sqlite' | 'postgres',
  { rounds, entries, startRemit }: BenchTools,
): Promise<Result[]> {
  const server = await startRemit({ dialect, fill: (database) => fill(database, entries) })
  const rest = () => authorizeDuring(server, sleep(SERIES_SECONDS * 1_000))
  try {
    await rest()
    const atRest = (await server.usage()).rssBytes
    const memory = watchMemory(server)
    const [verified, reports, idle, busy] = [[], [], [], []] as [
      number[],
      number[],
      number[],
      number[],
    ]
    for (let round = 0; round < Math.min(rounds, MAX_ROUNDS); round++) {
      verified.push(await verifyOnce(server))
      idle.push(...(await rest()))
      const begun = performance.now()
      const reporting = (async () => {
        // A short report is repeated, so that both series are of the same length.
        do reports.push(await reportOnce(server))
        while (performance.now() - begun < SERIES_SECONDS * 1_000)
      })()
      busy.push(...(await authorizeDuring(server, reporting)))
      // The slowest come a few at once, when the disk is slow: the same time without is needed as with.
      idle.push(...(await rest()))
    }
    const replayed = await replayOnce(server)
    const peak = await memory.end()
    return [
      {
        name: `verification on ${dialect}, entries a second`,
        value: median(verified),
        goal: { atLeast: VERIFIED_PER_SECOND[dialect] },
        detail: `${entries} entries, one worker`,
      },
      {
        name: `report on ${dialect}`,
        value: median(reports) / 1_000,
        unit: ' s',
        goal: { below: 10 },
        detail: `soc2, 90 days, ${reports.length} times`,
      },
      {
        name: `memory during verification and reports on ${dialect}`,
        value: (peak - atRest) / MEBI,
        unit: ' MiB',
        goal: { below: 300 },
        detail: `at most ${Math.round(peak / MEBI)} MiB resident, ${Math.round(atRest / MEBI)} before`,
      },
      {
        name: `authorize p99 during reports on ${dialect}, of without`,
        value: quantile(busy, 0.99) / quantile(idle, 0.99),
        goal: { below: 2 },
        detail: `${quantile(busy, 0.99).toFixed(1)} ms, ${quantile(idle, 0.99).toFixed(1)} ms at ${PER_SECOND}/s`,
      },
      {
        name: `replay on ${dialect}, decisions a second`,
        value: replayed,
        goal: null,
        detail: 'two rules and an overlay',
      },
    ]
  } finally {
    await server.stop()
  }
}

async function verifyOnce(server: MeasuredServer): Promise<number> {
  const answer = await post<Verification>(server, '/v1/compliance/verify-ledger', {})
  if (!answer.valid) throw new Error(`the ledger does not verify: ${JSON.stringify(answer)}`)
  return (answer.checked.entries / answer.duration_ms) * 1_000
}

/** Milliseconds from the request to a report that is ready. */
async function reportOnce(server: MeasuredServer): Promise<number> {
  const started = performance.now()
  type Report = { id: string; status: string }
  let report = await post<Report>(server, '/v1/compliance/reports', { framework: 'soc2' })
  while (report.status === 'generating') {
    await sleep(100)
    report = await read<Report>(
      await fetch(`${server.url}/v1/compliance/reports/${report.id}`, { headers: server.headers }),
    )
  }
  if (report.status !== 'ready') throw new Error(`the report is ${report.status}`)
  return performance.now() - started
}

async function replayOnce(server: MeasuredServer): Promise<number> {
  const overlay = { add: [{ effect: 'deny', actions: ['docs.*'] }] }
  const body = { from: '2000-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', overlay, limit: 0 }
  const started = performance.now()
  const { decisions } = await post<{ decisions: number }>(
    server,
    '/v1/compliance/policies/replay',
    body,
  )
  return (decisions / (performance.now() - started)) * 1_000
}

/**
 * Milliseconds that decisions take while something else goes on. They are asked for at a fixed pace,
 * so that a slow one does not keep the next from being asked.
 */
async function authorizeDuring(server: MeasuredServer, other: Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  const open: Promise<void>[] = []
  const ask = async (i: number) => {
    const started = performance.now()
    const body = { agent_id: `agent-${i % 50}`, action: 'docs.read', context: { i } }
    await post(server, '/v1/authorize', body)
    times.push(performance.now() - started)
  }
  let i = 0
  const asking = setInterval(() => open.push(ask(i++)), 1_000 / PER_SECOND)
  try {
    await other
  } finally {
    clearInterval(asking)
  }
  await Promise.all(open)
  return times
}

/** The largest resident size until the end. */
function watchMemory(server: MeasuredServer): { end(): Promise<number> } {
  let peak = 0
  const over = new AbortController()
  const watched = (async () => {
    while (!over.signal.aborted) {
      peak = Math.max(peak, (await server.usage()).rssBytes)
      await sleep(100)
    }
  })()
  return {
    async end() {
      over.abort()
      await watched
      return peak
    },
  }
}

async function post<T>({ url, headers }: MeasuredServer, path: string, body: object): Promise<T> {
  const options = { ...headers, 'content-type': 'application/json' }
  return read<T>(
    await fetch(url + path, { method: 'POST', headers: options, body: JSON.stringify(body) }),
  )
}

async function read<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as T
}
