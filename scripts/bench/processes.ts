import { createInstallation } from './installation.ts'
import { alternate, median, ratio } from './report.ts'
import type { Result } from './report.ts'
import { ASK } from './requests.ts'
import { limitSpend, load, startServer } from './servers.ts'

/** Four processes that write one organization's chain on PostgreSQL, against one. */
export async function processesSuite(rounds: number, seconds: number): Promise<Result[]> {
  const installation = await createInstallation('postgres')
  const first = await startServer({ kind: 'remit', ...installation })
  await limitSpend(first)
  const more = { kind: 'remit', ...installation, organization: first.organization } as const
  const servers = [first, await startServer(more), await startServer(more), await startServer(more)]
  const total = async (connections: number, among: typeof servers) => {
    const runs = among.map((server) =>
      load(server, { path: '/v1/authorize', body: ASK, connections, seconds }),
    )
    return (await Promise.all(runs)).reduce((sum, round) => sum + round.perSecond, 0)
  }
  // The same number of clients per process, so that the group commits have the same size.
  const measures = { one: () => total(64, [first]), four: () => total(64, servers) }
  for (const run of Object.values(measures)) await run()
  const values = await alternate(rounds, measures)
  for (const server of servers) await server.stop()
  await installation.remove()
  return [
    {
      name: 'four processes on one chain, postgres, of one',
      value: ratio(values.four, values.one),
      goal: { atLeast: 0.6 },
      detail: `${Math.round(median(values.four))}/s against ${Math.round(median(values.one))}/s`,
    },
  ]
}
