import type { Dialect } from '@remit/core/db'
import { createInstallation } from './installation.ts'
import { alternate, median, ratio } from '@remit/testing/bench'
import type { Result } from '@remit/testing/bench'
import { ASK, ENTRY } from './requests.ts'
import { limitSpend, load, startServer } from './servers.ts'
import type { BenchServer, Round } from './servers.ts'

const GOALS = {
  sqlite: { authorize: 0.4, append: 0.45 },
  postgres: { authorize: 0.35, append: 0.4 },
}

/** Decisions and appends over HTTP against a bare JSON echo, per second of the server's CPU. */
export async function httpSuite(
  dialect: Dialect,
  rounds: number,
  seconds: number,
): Promise<Result[]> {
  const installation = await createInstallation(dialect)
  const echo = await startServer({ kind: 'echo' })
  const remit = await startServer({ kind: 'remit', ...installation })
  await limitSpend(remit)
  const kept = new Map<string, Round[]>()
  const measure = (name: string, server: typeof echo, path: string, body: object) => async () => {
    const round = await load(server, { path, body, connections: 64, seconds })
    kept.set(name, [...(kept.get(name) ?? []), round])
    return round.perCpuSecond
  }
  const measures = {
    echo: measure('echo', echo, '/echo', ASK),
    authorize: measure('authorize', remit, '/v1/authorize', ASK),
    append: measure('append', remit, '/v1/ledger', ENTRY),
  }
  await warmUp(remit)
  for (const run of Object.values(measures)) await run()
  kept.clear()
  const values = await alternate(rounds, measures)
  await echo.stop()
  await remit.stop()
  await installation.remove()
  const figures = (name: string) => {
    const all = kept.get(name) ?? []
    const middle = (pick: (round: Round) => number) => median(all.map(pick))
    return `${Math.round(middle((r) => r.perCpuSecond))}/cpu-s, ${Math.round(middle((r) => r.perSecond))}/s, p50 ${middle((r) => r.p50Ms)} ms, p99 ${middle((r) => r.p99Ms)} ms`
  }
  return [
    { name: `bare JSON echo (beside ${dialect})`, value: 1, goal: null, detail: figures('echo') },
    {
      name: `POST /v1/authorize, ${dialect}, of echo`,
      value: ratio(values.authorize, values.echo),
      goal: { atLeast: GOALS[dialect].authorize },
      detail: figures('authorize'),
    },
    {
      name: `POST /v1/ledger, ${dialect}, of echo`,
      value: ratio(values.append, values.echo),
      goal: { atLeast: GOALS[dialect].append },
      detail: figures('append'),
    },
  ]
}

const WARM_REQUESTS = 150_000

/** The engine optimizes hot code for a long time; a server is measured after that. */
async function warmUp(server: BenchServer): Promise<void> {
  const both = [
    ['/v1/authorize', ASK],
    ['/v1/ledger', ENTRY],
  ] as const
  for (const [path, body] of both) {
    for (let done = 0; done < WARM_REQUESTS / 2;) {
      const { perSecond } = await load(server, { path, body, connections: 64, seconds: 2 })
      done += perSecond * 2
    }
  }
}
