import { existsSync, readdirSync } from 'node:fs'
import { createInstallation } from './installation.ts'
import { alternate, median, ratio } from './report.ts'
import type { Result } from './report.ts'
import { startServer } from './servers.ts'
import { traffic } from './traffic.ts'
import type { Traffic } from './traffic.ts'

type Suite = () => Promise<Result[]>

const toolsOf = (rounds: number, seconds: number) => ({
  rounds,
  alternate,
  median,
  ratio,
  startRemit,
  traffic: (load: Omit<Traffic, 'seconds'>) => traffic({ ...load, seconds }),
})

const packages = new URL('../../packages/', import.meta.url)

/** Suites that packages bring in `bench/suites.ts`; an edition without a package has fewer. */
export async function packageSuites(
  rounds: number,
  seconds: number,
): Promise<Record<string, Suite>> {
  const found: Record<string, Suite> = {}
  for (const name of readdirSync(packages)) {
    const file = new URL(`${name}/bench/suites.ts`, packages)
    if (!existsSync(file)) continue
    const { suites } = (await import(file.href)) as {
      suites: Record<string, (tools: ReturnType<typeof toolsOf>) => Promise<Result[]>>
    }
    for (const [suite, run] of Object.entries(suites))
      found[suite] = () => run(toolsOf(rounds, seconds))
  }
  return found
}

async function startRemit() {
  const installation = await createInstallation('sqlite')
  const server = await startServer({ kind: 'remit', ...installation })
  return {
    url: server.url,
    headers: { authorization: `Bearer ${server.organization.key}` },
    async stop() {
      await server.stop()
      await installation.remove()
    },
  }
}
