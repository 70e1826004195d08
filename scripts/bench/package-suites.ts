import { existsSync, readdirSync } from 'node:fs'
import type { Dialect } from '@remit/core/db'
import type { Module } from '@remit/core/module'
import { loadModules } from '../../apps/server/src/boot/modules.ts'
import { createInstallation } from './installation.ts'
import { alternate, median, quantile, ratio } from './report.ts'
import type { Result } from './report.ts'
import { startServer } from './servers.ts'
import { traffic } from './traffic.ts'
import type { Traffic } from './traffic.ts'

type Suite = () => Promise<Result[]>

/** `seconds` per round of load, `entries` in a large ledger. */
export interface Sizes {
  readonly rounds: number
  readonly seconds: number
  readonly entries: number
}

const toolsOf = ({ rounds, seconds, entries }: Sizes) => ({
  rounds,
  seconds,
  entries,
  alternate,
  median,
  quantile,
  ratio,
  startRemit,
  traffic: (load: Omit<Traffic, 'seconds'> & Partial<Traffic>) => traffic({ seconds, ...load }),
})

const packages = new URL('../../packages/', import.meta.url)

/** Suites of packages in `bench/suites.ts`; an edition without a package has fewer. */
export async function packageSuites(sizes: Sizes): Promise<Record<string, Suite>> {
  const found: Record<string, Suite> = {}
  for (const name of readdirSync(packages)) {
    const file = new URL(`${name}/bench/suites.ts`, packages)
    if (!existsSync(file)) continue
    const { suites } = (await import(file.href)) as {
      suites: Record<string, (tools: ReturnType<typeof toolsOf>) => Promise<Result[]>>
    }
    for (const [suite, run] of Object.entries(suites)) found[suite] = () => run(toolsOf(sizes))
  }
  return found
}

/** A database before its server starts. */
export interface Unstarted {
  readonly databaseUrl: string
  /** PKCS #8 PEM of the ledger's key. */
  readonly signingKey: string
  readonly modules: readonly Module[]
}

interface StartOptions {
  readonly dialect?: Dialect
  /** Creates an organization with the data of the suite, bypassing the limits of the API. */
  readonly fill?: (database: Unstarted) => Promise<{ readonly key: string; readonly orgId: string }>
}

async function startRemit({ dialect = 'sqlite', fill }: StartOptions = {}) {
  const installation = await createInstallation(dialect)
  const organization = fill && (await fill({ ...installation, modules: await loadModules() }))
  const server = await startServer({
    kind: 'remit',
    ...installation,
    ...(organization && { organization }),
  })
  return {
    url: server.url,
    headers: { authorization: `Bearer ${server.organization.key}` },
    usage: () => server.usage(),
    async stop() {
      await server.stop()
      await installation.remove()
    },
  }
}
