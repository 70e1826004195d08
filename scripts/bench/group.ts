import type { Dialect } from '@remit/core/db'
import { createInstallation } from './installation.ts'
import { alternate, median, ratio } from './report.ts'
import type { Result } from './report.ts'
import { ASK } from './requests.ts'
import { limitSpend, load, startServer } from './servers.ts'

/**
 * Group commit against one commit per request, in responses per second, including the wait for the
 * disk.
 */
export async function groupSuite(
  dialect: Dialect,
  rounds: number,
  seconds: number,
): Promise<Result[]> {
  const installation = await createInstallation(dialect)
  const group = await startServer({ kind: 'remit', ...installation })
  const each = await startServer({ kind: 'remit', ...installation, maxBatch: 1 })
  await limitSpend(group)
  await limitSpend(each)
  const measure = (server: typeof group, connections: number) => async () =>
    (await load(server, { path: '/v1/authorize', body: ASK, connections, seconds })).perSecond
  const measures = {
    each64: measure(each, 64),
    group64: measure(group, 64),
    each1: measure(each, 1),
    group1: measure(group, 1),
  }
  for (const run of Object.values(measures)) await run()
  const values = await alternate(rounds, measures)
  await group.stop()
  await each.stop()
  await installation.remove()
  const detail = (a: number[], b: number[]) =>
    `${Math.round(median(a))}/s against ${Math.round(median(b))}/s`
  return [
    {
      name: `group commit, ${dialect}, 64 connections`,
      value: ratio(values.group64, values.each64),
      goal: { atLeast: 5 },
      detail: detail(values.group64, values.each64),
    },
    {
      name: `group commit, ${dialect}, one connection`,
      value: ratio(values.group1, values.each1),
      goal: { atLeast: 0.95 },
      detail: detail(values.group1, values.each1),
    },
  ]
}
