import { NearNodes, openDatabase } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { lockHead } from '@remit/core/ledger/records'
import { createDatabase } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
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
