import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInstallation } from './installation.ts'
import { alternate, median, ratio } from './report.ts'
import type { Result } from './report.ts'
import { ASK } from './requests.ts'
import { limitSpend, load, startServer } from './servers.ts'

const SHARE = 0.01

/** Decisions per second of CPU with 1 % of the requests traced, against a server without tracing. */
export async function tracingSuite(rounds: number, seconds: number): Promise<Result[]> {
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const installations = [
    await createInstallation('sqlite'),
    await createInstallation('sqlite'),
  ] as const
  const off = await startServer({ kind: 'remit', ...installations[0] })
  const on = await startServer({
    kind: 'remit',
    ...installations[1],
    tracing: { share: SHARE, endpoint },
  })
  await limitSpend(off)
  await limitSpend(on)
  const measure = (server: typeof off) => async () =>
    (await load(server, { path: '/v1/authorize', body: ASK, connections: 64, seconds }))
      .perCpuSecond
  const measures = { off: measure(off), on: measure(on) }
  // The engine optimizes hot code for a long time; both warm up alike.
  await alternate(3, measures)
  const values = await alternate(rounds, measures)
  await off.stop()
  await on.stop()
  for (const installation of installations) await installation.remove()
  collector.close()
  return [
    {
      name: 'POST /v1/authorize, sqlite, 1 % traced, of untraced',
      value: ratio(values.on, values.off),
      goal: { atLeast: 0.97 },
      detail: `${Math.round(median(values.on))}/cpu-s against ${Math.round(median(values.off))}/cpu-s`,
    },
  ]
}
