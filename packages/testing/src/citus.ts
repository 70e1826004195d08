import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PostgresNode, postgresPrograms } from './postgres-server.ts'

/** Returns true if PostgreSQL with the extension Citus is installed. */
export const hasCitus = (): boolean => existsSync(join(postgresPrograms(), '../lib/citus.so'))

/** A coordinator and workers, without databases of their own. */
export interface CitusCluster {
  readonly coordinator: PostgresNode
  readonly workers: readonly PostgresNode[]
  stop(): Promise<void>
}

const SETTINGS = {
  shared_preload_libraries: 'citus',
  wal_level: 'logical',
  max_prepared_transactions: '200',
  // Citus has a process for every database.
  max_worker_processes: '500',
  'citus.node_conninfo': 'sslmode=disable',
}

/** Starts a cluster with a coordinator and two workers. */
export async function startCitus(
  settings: Readonly<Record<string, string>> = {},
): Promise<CitusCluster> {
  const start = () => PostgresNode.create({ ...SETTINGS, ...settings })
  const coordinator = await start()
  const workers = [await start(), await start()]
  return {
    coordinator,
    workers,
    async stop() {
      for (const node of [coordinator, ...workers]) await node.remove()
    },
  }
}
