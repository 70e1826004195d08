import {
  createCitusInstallation,
  createInstallation,
  createNodeInstallation,
} from './installation.ts'
import type { BenchInstallation } from './installation.ts'
import type { BenchOrganization } from './messages.ts'
import { alternate, median, ratio } from '@remit/testing/bench'
import type { Result } from '@remit/testing/bench'
import { ASK } from './requests.ts'
import { limitSpend, load, startServer } from './servers.ts'
import type { BenchServer } from './servers.ts'

const ORGANIZATIONS = [1, 4, 12, 16] as const
/** Of all organizations together, the same for every number of them. */
const CONNECTIONS = 64
const GOAL = { atLeast: 0.5 }

/** `citus nodes`: decisions connect to the node that has their organization. */
type Engine = 'sqlite' | 'postgres' | 'citus' | 'citus nodes'

interface Running {
  readonly installation: BenchInstallation
  readonly server: BenchServer
  readonly organizations: readonly BenchOrganization[]
}

/** Decisions a second for some numbers of organizations on every engine, all in one run. */
export async function scaleSuite(rounds: number, seconds: number): Promise<Result[]> {
  const citus = await createCitusInstallation()
  const running: Partial<Record<Engine, Running>> = {
    sqlite: await start(await createInstallation('sqlite')),
    postgres: await start(await createNodeInstallation()),
    ...(citus && {
      citus: await start(citus),
      'citus nodes': await start({ ...citus, remove: () => Promise.resolve() }, true),
    }),
  }
  const engines = Object.keys(running) as Engine[]
  // One after the other: a shared machine changes its speed within a round.
  const measures = Object.fromEntries(
    ORGANIZATIONS.flatMap((count) =>
      engines.map((engine) => [
        `${engine} ${count}`,
        () => decisions(running[engine], count, seconds),
      ]),
    ),
  )
  // The engine optimizes hot code for a while.
  for (const measure of Object.values(measures)) await measure()
  const values = await alternate(rounds, measures)
  const all = Object.values(running)
  for (const { server } of all) await server.stop()
  for (const { installation } of all) await installation.remove()
  return engines.flatMap((engine) =>
    ORGANIZATIONS.map((count): Result => {
      const own = values[`${engine} ${count}`] ?? []
      return {
        name: `decisions, ${engine}, ${count} organizations, of PostgreSQL`,
        value: ratio(own, values[`postgres ${count}`] ?? []),
        goal: engine === 'citus nodes' ? GOAL : null,
        detail: `${Math.round(median(own))}/s of ${own.map(Math.round).join(' ')}`,
      }
    }),
  )
}

async function start(installation: BenchInstallation, toNodes = false): Promise<Running> {
  const server = await startServer({ kind: 'remit', ...installation, toNodes })
  const organizations = [server.organization]
  while (organizations.length < Math.max(...ORGANIZATIONS))
    organizations.push(await server.addOrganization())
  for (const organization of organizations) await limitSpend({ ...server, organization })
  return { installation, server, organizations }
}

async function decisions(
  running: Running | undefined,
  count: number,
  seconds: number,
): Promise<number> {
  if (!running) throw new Error('the engine was not started')
  const connections = Math.floor(CONNECTIONS / count)
  const results = await Promise.all(
    running.organizations
      .slice(0, count)
      .map((organization) =>
        load(
          { ...running.server, organization },
          { path: '/v1/authorize', body: ASK, connections, seconds },
        ),
      ),
  )
  return results.reduce((sum, { perSecond }) => sum + perSecond, 0)
}
