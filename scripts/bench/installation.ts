import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { distribute, migrate, migrationSetsOf, openDatabase } from '@remit/core/db/open'
import type { Dialect } from '@remit/core/db'
import { generateLedgerKey } from '@remit/core/ledger/proofs'
import { coreModule } from '@remit/core/server'
import { hasCitus, joinNodes, PostgresNode, startCitus, startPostgres } from '@remit/testing'
import { loadModules } from '../../apps/server/src/boot/modules.ts'

/** An empty database and a signing key. */
export interface BenchInstallation {
  readonly databaseUrl: string
  readonly signingKey: string
  remove(): Promise<void>
}

const installationAt = (
  databaseUrl: string,
  remove: BenchInstallation['remove'],
): BenchInstallation => ({ databaseUrl, signingKey: generateLedgerKey(), remove })

export async function createInstallation(dialect: Dialect): Promise<BenchInstallation> {
  if (dialect === 'postgres') {
    const postgres = await startPostgres()
    return installationAt(postgres.url, async () => {
      await postgres.stop()
      rmSync(postgres.folder, { recursive: true, force: true })
    })
  }
  const folder = mkdtempSync(join(tmpdir(), 'remit-bench-'))
  return installationAt(`sqlite:${join(folder, 'remit.db')}`, async () =>
    rmSync(folder, { recursive: true, force: true }),
  )
}

/** An empty database on a server with the settings of the nodes of a cluster, to compare with it. */
export async function createNodeInstallation(): Promise<BenchInstallation> {
  const node = await PostgresNode.create()
  return installationAt(node.url, () => node.remove())
}

/** A cluster with distributed tables; null where Citus is not installed. */
export async function createCitusInstallation(): Promise<BenchInstallation | null> {
  if (!hasCitus()) return null
  const cluster = await startCitus()
  const { coordinator, workers } = cluster
  await joinNodes([coordinator, ...workers].map(({ url }) => url))
  const sets = migrationSetsOf([coreModule, ...(await loadModules())])
  const db = openDatabase<never>(coordinator.url, {
    answerMs: 600_000,
    applicationName: 'bench',
  })
  await migrate(db, sets)
  await distribute(db, sets)
  await db.destroy()
  return installationAt(coordinator.url, () => cluster.stop())
}
