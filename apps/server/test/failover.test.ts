import type { CoreTables } from '@remit/core/db'
import { generateKey } from '@remit/core/keys'
import { verifyDatabase } from '@remit/core/ledger/records'
import { inFullRun, openPatiently, PostgresNode, startMovingAddress } from '@remit/testing'
import type { MovingAddress } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { cli } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { startLoad } from './support/load.ts'
import type { Load } from './support/load.ts'
import { request } from './support/process.ts'

const isRun = inFullRun('losing a primary') && hasModules()

const key = generateKey().secret
const log = pino({ level: 'silent' })
const LONG = { timeout: 60_000, interval: 100 }

// Decisions are the load, and only the enterprise edition makes them.
describe.skipIf(!isRun)('a primary that is lost under load', () => {
  let primary: PostgresNode
  let standby: PostgresNode
  let address: MovingAddress
  let installation: Installation
  let env: Record<string, string>
  let servers: RunningServer[]
  let loads: Load[]
  const serve = () => createServer(readConfig(env), { log })
  beforeAll(async () => {
    primary = await PostgresNode.create({ wal_keep_size: '256MB' })
    standby = await primary.standby('second')
    // From here on, no commit is answered before the standby has it.
    await primary.run("alter system set synchronous_standby_names = 'second'")
    await primary.run('select pg_reload_conf()')
    await vi.waitUntil(
      async () => (await primary.ask('select sync_state from pg_stat_replication')) === 'sync',
      LONG,
    )
    address = await startMovingAddress(primary.url)
    installation = await createInstallation()
    env = {
      ...installation.env,
      REMIT_DATABASE_URL: address.url,
      REMIT_BOOTSTRAP_KEY: key,
      REMIT_RATE_LIMIT: '0',
    }
    servers = [await serve()]
    servers.push(await serve())
    loads = servers.map(({ url }) => startLoad(url, key))
    await Promise.all(loads.map((load) => load.more(150)))
    // Decisions wait for the standby at the moment of the loss.
    standby.pause()
    await vi.waitUntil(
      () => primary.ask("select max(pid) from pg_stat_activity where wait_event = 'SyncRep'"),
      LONG,
    )
    await primary.kill()
    standby.resume()
  })
  afterAll(async () => {
    await Promise.all(loads.map((load) => load.stop()))
    await Promise.all(servers.map((server) => server.stop()))
    await address.close()
    await primary.remove()
    await standby.remove()
    await installation.remove()
  })

  const authorize = (url: string) =>
    request(`${url}/v1/authorize`, key, 'POST', { agent_id: 'payer', action: 'still.there' })
  const expectRefused = async () => {
    for (const { url } of servers) {
      const refused = await authorize(url)
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).not.toBeNull()
      const { code } = (await refused.json()) as { code: string }
      expect(['ledger_unavailable', 'database_unavailable']).toContain(code)
      expect((await fetch(`${url}/ready`)).status).toBe(503)
    }
  }

  test('a standby that is not promoted is refused, for reads too', async () => {
    address.moveTo(standby.url)

    await expectRefused()
    const [one] = servers
    expect((await request(`${one?.url}/v1/ledger`, key)).status).toBe(503)
    await expect(serve()).rejects.toThrow(/PostgreSQL is read-only/)
    // A command that only reads may use a replica.
    const listed = await cli(['org', 'list'], { ...env, REMIT_DATABASE_URL: standby.url })
    expect(listed).toMatchObject({ code: 0, stderr: '' })
  })

  test('the promoted standby has every decision that was answered, and all servers use it', async () => {
    await standby.run('select pg_promote()')
    await Promise.all(loads.map((load) => load.more(150)))

    for (const { url } of servers) expect((await fetch(`${url}/ready`)).status).toBe(200)
    const refused = loads.flatMap(({ refusals }) => refusals)
    expect(refused.length).toBeGreaterThan(0)
    expect([...new Set(refused.map(({ status }) => status))]).toEqual([503])
    await expectAllThere()
  })

  test('the old primary answers no decision when it comes back, and nothing is written there', async () => {
    await primary.start()
    const last = () => primary.ask('select max(seq) from ledger_entry')
    const before = await last()
    address.moveTo(primary.url)

    for (const { url } of servers) {
      expect((await authorize(url)).status).toBe(503)
    }
    expect(await last()).toBe(before)
    address.moveTo(standby.url)
    await Promise.all(loads.map((load) => load.more(50)))
    await expectAllThere()
  })

  test('a primary that becomes read-only is left, and used again when it is not', async () => {
    const set = async (value: 'on' | 'off') => {
      await standby.run(`alter system set default_transaction_read_only = ${value}`)
      await standby.run('select pg_reload_conf()')
    }
    const sessions = () =>
      standby.ask("select count(*) from pg_stat_activity where application_name = 'remit'")
    await set('on')
    await vi.waitUntil(async () => (await sessions()) === '0', LONG)
    await expectRefused()
    await set('off')
    await Promise.all(loads.map((load) => load.more(50)))

    await Promise.all(loads.map((load) => load.stop()))
    await expectAllThere()
  })

  async function expectAllThere(): Promise<void> {
    const db = openPatiently<CoreTables>(standby.url)
    try {
      const { org_id: orgId } = await db
        .selectFrom('ledger_head')
        .select('org_id')
        .executeTakeFirstOrThrow()
      const answered = loads.flatMap((load) => [...load.answered])
      expect(await verifyDatabase(db, orgId)).toMatchObject({ status: 'ok', error_count: 0 })
      const rows = await db.selectFrom('ledger_entry').select(['seq', 'hash']).execute()
      const stored = new Map(rows.map(({ seq, hash }) => [seq, hash]))
      expect(answered.filter(({ seq, hash }) => stored.get(seq) !== hash)).toEqual([])
    } finally {
      await db.destroy()
    }
  }
})
