import {
  NearNodes,
  openDatabase,
  findShard,
  holdShard,
  onShard,
  ShardMoved,
} from '@remit/core/db/open'
import type { Database } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { findHead, lockHead } from '@remit/core/ledger/records'
import { createDatabase } from '@remit/testing'
import type { PostgresNode, TestDatabase } from '@remit/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createOrg } from '../support/cli.ts'
import { distributed, runsOnCitus } from './cluster.ts'
import type { Distributed } from './cluster.ts'

const WAIT = { timeout: 60_000, interval: 50 }
const open = (url: string) => Promise.resolve(openDatabase<CoreTables>(url, { hasSessions: true }))

describe.skipIf(!runsOnCitus)('the node of an organization', () => {
  let installation: Distributed
  let plain: TestDatabase
  let orgId: string
  beforeAll(async () => {
    installation = await distributed()
    plain = await createDatabase('postgres')
    orgId = (await createOrg(installation.env)).organization.id
  })
  afterAll(async () => {
    await plain.drop()
    await installation.remove()
  })

  test('is found, while decisions do not wait for it', async () => {
    const opened: number[] = []
    const errors: unknown[] = []
    const nodes = new NearNodes(installation.db, {
      open: ({ host, port }) => {
        opened.push(port)
        return open(`postgres://remit@${host}:${port}/postgres`)
      },
      onError: (error) => errors.push(error),
    })

    expect(nodes.of(orgId)).toBeNull()
    await vi.waitUntil(() => nodes.of(orgId) !== null, WAIT)
    const { port } = await installation.nodeOf(orgId)
    nodes.forget(orgId)
    expect(nodes.of(orgId)).toBeNull()
    await nodes.close()

    expect(opened).toEqual([port])
    expect(errors).toEqual([])
  })

  test('plans each execution: Citus would keep the plans of all executions', async () => {
    const mode = async (url: string) => {
      const db = await open(url)
      const { rows } = await sql<{ mode: string }>`
        select current_setting('plan_cache_mode') as mode`.execute(db)
      await db.destroy()
      return rows[0]?.mode
    }

    expect(await mode(installation.env['REMIT_DATABASE_URL'] ?? '')).toBe('force_custom_plan')
    expect(await mode(plain.url)).toBe('auto')
  })

  describe('its shard', () => {
    const usingShards = (node: PostgresNode, role = 'remit') =>
      openDatabase<CoreTables>(node.url.replace('remit@', `${role}@`), {
        hasSessions: true,
        usesShards: true,
      })
    beforeAll(async () => {
      const { coordinator } = installation.cluster
      await coordinator.run('create role serving login')
      await coordinator.run('grant select, insert, update on ledger_head to serving')
    })
    const found = async (db: Database<CoreTables>) => {
      const shard = await findShard(db, orgId)
      if (!shard) throw new Error('no shard')
      return shard
    }
    const move = async (mode: string) => {
      const from = await installation.nodeOf(orgId)
      const to = installation.cluster.workers.find((worker) => worker !== from)
      await installation.cluster.coordinator.run(`select citus_move_shard_placement(
        get_shard_id_for_distribution_column('ledger_head', '${orgId}'),
        '127.0.0.1', ${from.port}, '127.0.0.1', ${to?.port}, '${mode}')`)
    }

    test('has the rows of the distributed tables, also in one transaction with them', async () => {
      const node = usingShards(await installation.nodeOf(orgId))
      const shard = await found(node)
      const sizes = await node.transaction().execute(async (opened) => {
        const tx = onShard(opened, shard)
        await lockHead(tx, orgId)
        await holdShard(opened, shard)
        await tx
          .updateTable('ledger_head')
          .set({ decided: 77 })
          .where('org_id', '=', orgId)
          .execute()
        const both = [await findHead(tx, orgId), await findHead(opened, orgId)]
        await opened
          .updateTable('ledger_head')
          .set({ decided: 0 })
          .where('org_id', '=', orgId)
          .execute()
        return both.map((head) => head?.decided)
      })
      await node.destroy()
      expect(sizes).toEqual([77, 77])
      expect(await findHead(installation.db, orgId)).toMatchObject({ decided: 0 })
    })

    test.each([
      ['block_writes', 'remit'],
      ['block_writes', 'serving'],
      ['force_logical', 'remit'],
      ['force_logical', 'serving'],
    ])(
      'moves by %s after the transactions of the role %s that hold it, with their rows',
      async (mode, role) => {
        const from = await installation.nodeOf(orgId)
        const node = usingShards(from, role)
        const shard = await found(node)
        const decided = Date.now()
        let moving = Promise.resolve()
        await node.transaction().execute(async (opened) => {
          const tx = onShard(opened, shard)
          await lockHead(tx, orgId)
          await holdShard(opened, shard)
          moving = move(mode)
          await vi.waitUntil(
            async () => (await from.ask('select count(*) from pg_locks where not granted')) !== '0',
            WAIT,
          )
          await tx.updateTable('ledger_head').set({ decided }).where('org_id', '=', orgId).execute()
        })
        await moving

        expect(await installation.nodeOf(orgId)).not.toBe(from)
        expect(await findHead(installation.db, orgId)).toMatchObject({ decided })
        await expect(node.transaction().execute((tx) => holdShard(tx, shard))).rejects.toThrow(
          ShardMoved,
        )
        await node.destroy()
      },
    )
  })

  test('commits durably through the coordinator and directly, on a node whose default is not durable', async () => {
    const node = await installation.nodeOf(orgId)
    await node.run('alter system set synchronous_commit = off')
    await node.run('select pg_reload_conf()')
    for (const url of [installation.env['REMIT_DATABASE_URL'] ?? '', node.url]) {
      const db = await open(url)
      const setting = await db.transaction().execute(async (tx) => {
        await lockHead(tx, orgId)
        // Evaluated where the row is, as the commit is.
        const { rows } = await sql<{
          value: string
        }>`select current_setting('synchronous_commit') as value
          from ledger_head where org_id = ${orgId}`.execute(tx)
        return rows[0]?.value
      })
      await db.destroy()
      expect(setting).toBe('on')
    }
    await node.run('alter system reset synchronous_commit')
    await node.run('select pg_reload_conf()')
  })

  test.each([
    ['another database', () => plain.url],
    ['nothing', () => 'postgres://remit@127.0.0.1:1/postgres'],
  ])('is not used where its name leads to %s', async (_, url) => {
    const errors: unknown[] = []
    const nodes = new NearNodes(installation.db, {
      open: () => open(url()),
      onError: (error) => errors.push(error),
    })

    expect(nodes.of(orgId)).toBeNull()
    await vi.waitUntil(() => errors.length > 0, WAIT)
    expect(nodes.of(orgId)).toBeNull()
    await nodes.close()
    // It does not look again for every decision.
    expect(errors).toHaveLength(1)
  })
})
