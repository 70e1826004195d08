import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { citusNodes, joinNodes, runStatement, scratchFolder, startCitus } from '@remit/testing'
import type { CitusCluster, PostgresNode } from '@remit/testing'
import { cli } from '../support/cli.ts'

/** True in `pnpm test:citus`; a cluster takes seconds to start, and CI has none. */
export const runsOnCitus = citusNodes().length > 0
if (!runsOnCitus) process.stderr.write('skipped: tests of a lost node run in `pnpm test:citus`\n')

/** An installation whose tables are distributed over a cluster of its own. */
export interface Distributed {
  readonly cluster: CitusCluster
  readonly env: Readonly<Record<string, string>>
  readonly db: ReturnType<typeof openDatabase<CoreTables>>
  /** Returns the worker with the rows of an organization. */
  nodeOf(orgId: string): Promise<PostgresNode>
  remove(): Promise<void>
}

/**
 * Sets a cluster up as an operator does: `remit migrate`, then `remit distribute`, and before that what
 * `prepare` does.
 */
export async function distributed(
  prepare: (env: Distributed['env']) => Promise<void> = () => Promise.resolve(),
): Promise<Distributed> {
  const cluster = await startCitus({
    'citus.shard_count': '4',
    // No statement of the product may need all nodes.
    'citus.multi_task_query_log_level': 'error',
  })
  const folder = scratchFolder('distributed')
  const nodes = [cluster.coordinator, ...cluster.workers]
  await joinNodes(nodes.map(({ url }) => url))
  const env = {
    REMIT_DATABASE_URL: cluster.coordinator.url,
    REMIT_LEDGER_KEY_FILE: join(folder, 'ledger-key.pem'),
    REMIT_EVALUATION: '1',
    REMIT_PORT: '0',
    REMIT_RATE_LIMIT: '0',
    REMIT_LOG_LEVEL: 'silent',
    REMIT_ALLOW_LOOPBACK_TARGETS: '1',
  }
  await succeed(['migrate'], env)
  await prepare(env)
  await succeed(['distribute'], env)
  const db = openDatabase<CoreTables>(cluster.coordinator.url)
  return {
    cluster,
    env,
    db,
    async nodeOf(orgId) {
      const [row] = (await runStatement(
        cluster.coordinator.url,
        `select nodeport as port from citus_shards where table_name = 'ledger_head'::regclass
          and shardid = get_shard_id_for_distribution_column('ledger_head', '${orgId}')`,
      )) as { port: number }[]
      const node = nodes.find(({ url }) => new URL(url).port === String(row?.port))
      if (!node) throw new Error(`the organization ${orgId} is nowhere`)
      return node
    },
    async remove() {
      await db.destroy()
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function succeed(args: readonly string[], env: Distributed['env']): Promise<void> {
  const { code, stderr } = await cli(args, env)
  if (code !== 0) throw new Error(stderr)
}
