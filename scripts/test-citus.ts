/**
 * `pnpm test:citus [file …]`: tests on a Citus cluster with a coordinator and two workers. Skipped
 * where Citus is not installed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { hasCitus, startCitus } from '@remit/testing'
import { ROOT } from './staging.ts'

/** Tests of stores, and proofs. Tests that change tables or rows themselves run on PostgreSQL. */
const FILES = [
  ...['orgs/organizations', 'orgs/list', 'idempotency/store', 'keys/authenticator'].map(
    (name) => `packages/core/src/${name}.test.ts`,
  ),
  ...[
    'ledger/writer',
    'ledger/prune',
    'ledger/revoked-keys',
    'ledger/meanwhile',
    'http/sessions',
  ].map((name) => `packages/core/test/${name}.test.ts`),
  ...['spend/overspend', 'spend/holds', 'approvals/lifecycle', 'webhooks/delivery', 'keys'].map(
    (name) => `packages/governance-enterprise/test/${name}.test.ts`,
  ),
  ...['credentials', 'use', 'exchange/exchange', 'sign-up'].map(
    (name) => `packages/identity/test/${name}.test.ts`,
  ),
  ...['watch', 'reports-create', 'deleted-checkpoints'].map(
    (name) => `packages/compliance/test/${name}.test.ts`,
  ),
  ...['crash', 'org-leave', 'operator-api', 'placements'].map(
    (name) => `apps/server/test/${name}.test.ts`,
  ),
  'apps/server/test/citus/worker-loss.test.ts',
  'apps/server/test/citus/distribute.test.ts',
  'apps/server/test/citus/near-nodes.test.ts',
  'apps/server/test/citus/shard-moves.test.ts',
]

if (!hasCitus()) {
  console.log('skipped: tests on a cluster need PostgreSQL 15 with the extension citus')
} else {
  const cluster = await startCitus({
    // A table costs time for every shard.
    'citus.shard_count': '4',
    // Without them the process of a database holds no connections: there are hundreds.
    'citus.distributed_deadlock_detection_factor': '-1',
    'citus.recover_2pc_interval': '-1',
    // A statement for several nodes would fail for everybody when one of them is lost.
    'citus.multi_task_query_log_level': 'error',
  })
  try {
    process.exitCode = await runTests([
      cluster.coordinator.url,
      ...cluster.workers.map(({ url }) => url),
    ])
  } finally {
    await cluster.stop()
  }
}

async function runTests([coordinator = '', ...workers]: readonly string[]): Promise<number> {
  const named = process.argv.slice(2)
  const files = named.length > 0 ? named : FILES.filter((file) => existsSync(`${ROOT}/${file}`))
  const child = spawn('pnpm', ['exec', 'vitest', 'run', '--no-file-parallelism', ...files], {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      REMIT_TEST_DATABASE_URL: coordinator,
      REMIT_TEST_DIALECT: 'postgres',
      REMIT_TEST_CITUS_NODES: [coordinator, ...workers].join(' '),
    },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}
