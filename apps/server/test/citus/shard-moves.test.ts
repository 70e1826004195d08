import { verifyDatabase } from '@remit/core/ledger/records'
import { runStatement } from '@remit/testing'
import type { PostgresNode } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createServer } from '../../src/boot/serve.ts'
import type { RunningServer } from '../../src/boot/serve.ts'
import { readConfig } from '../../src/settings/config.ts'
import { createOrg } from '../support/cli.ts'
import { request } from '../support/process.ts'
import { distributed, runsOnCitus } from './cluster.ts'
import type { Distributed } from './cluster.ts'

const ORGANIZATIONS = 4

interface Organization {
  readonly id: string
  readonly key: string
  readonly answered: { seq: number; hash: string }[]
}

/** The message of a failure, or an empty text. */
const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => '',
    (error: Error) => error.message,
  )

describe.skipIf(!runsOnCitus)('a move of an organization under load', () => {
  let installation: Distributed
  /** One decides on the workers, one through the coordinator: both through the distributed tables. */
  let servers: RunningServer[] = []
  const organizations: Organization[] = []

  beforeAll(async () => {
    installation = await distributed()
    const start = (more: Record<string, string>) =>
      createServer(readConfig({ ...installation.env, ...more }), { log: pino({ level: 'silent' }) })
    servers = [await start({ REMIT_DATABASE_NODES: '1' }), await start({})]
    for (let i = 0; i < ORGANIZATIONS; i++) {
      const { organization, key } = await createOrg(installation.env, `organization ${i}`)
      await request(`${servers[0]?.url}/v1/spend-limits/payer`, key.secret, 'POST', {
        daily_usd: 1e6,
      })
      organizations.push({ id: organization.id, key: key.secret, answered: [] })
    }
  })
  afterAll(async () => {
    for (const server of servers) await server.stop()
    await installation.remove()
  })

  async function decide({ key, answered }: Organization, { url }: RunningServer): Promise<void> {
    const response = await request(`${url}/v1/authorize`, key, 'POST', {
      agent_id: 'payer',
      action: 'payments.transfer',
      context: { amount_usd: 1 },
    })
    const text = await response.text()
    // A move blocks writes, for longer than a decision waits on a busy machine.
    expect([200, 503], text).toContain(response.status)
    if (response.ok)
      answered.push((JSON.parse(text) as { ledger: { seq: number; hash: string } }).ledger)
  }

  /** Moves the shards of an organization to the other worker. */
  async function move({ id }: Organization, mode: 'block_writes' | 'force_logical') {
    const { coordinator, workers } = installation.cluster
    const from = await installation.nodeOf(id)
    const to = workers.find((worker) => worker !== from)
    const place = (node?: PostgresNode) => `'127.0.0.1', ${node?.port}`
    const statement = `select citus_move_shard_placement(
      get_shard_id_for_distribution_column('ledger_head', '${id}'),
      ${place(from)}, ${place(to)}, '${mode}')`
    // Citus first drops what an earlier move left there, but does not wait long for transactions.
    const refusal = await vi.waitFor(
      async () => {
        const failure = await failureOf(runStatement(coordinator.url, statement))
        if (/orphaned shard .* could not be cleaned up/.test(failure)) throw new Error(failure)
        return failure
      },
      { timeout: 60_000, interval: 500 },
    )
    expect(refusal).toBe('')
  }

  test.each(['block_writes', 'force_logical'] as const)(
    'loses no answered decision, by %s',
    async (mode) => {
      const load = new AbortController()
      const loaded = Promise.allSettled(
        organizations.flatMap((organization) =>
          servers.map(async (server) => {
            while (!load.signal.aborted) await decide(organization, server)
          }),
        ),
      )
      try {
        for (let round = 0; round < 2; round++)
          for (const organization of organizations.slice(0, 2)) await move(organization, mode)
      } finally {
        load.abort()
      }
      expect((await loaded).filter(({ status }) => status === 'rejected')).toEqual([])

      for (const { id, answered } of organizations) {
        expect(await verifyDatabase(installation.db, id)).toMatchObject({
          status: 'ok',
          error_count: 0,
        })
        const rows = await installation.db
          .selectFrom('ledger_entry')
          .select(['seq', 'hash'])
          .where('org_id', '=', id)
          .execute()
        const hashes = new Map(rows.map(({ seq, hash }) => [seq, hash]))
        expect(answered.length).toBeGreaterThan(0)
        expect(answered.filter(({ seq, hash }) => hashes.get(seq) !== hash)).toEqual([])
      }
    },
  )
})
