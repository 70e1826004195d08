import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasPersistentSessions } from '../../src/db/postgres-client.ts'
import type { Database } from '../../src/db/open.ts'
import { pollingSignals } from '../../src/db/signals.ts'
import type { CoreTables } from '../../src/db/schema.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import {
  createDatabase,
  createTestRemit,
  hasPgbouncer,
  inFullRun,
  openPatiently,
  startPgbouncer,
  startPostgres,
} from '@remit/testing'
import type { Pooler, TestDatabase, TestOrganization, TestRemit } from '@remit/testing'
import { append, decisionDraft } from '../support/drafts.ts'

const isRun = inFullRun('PostgreSQL that does not commit durably') && hasPgbouncer()

/** Keeps what a commit ran with: a deferred trigger fires when COMMIT is carried out. */
const WATCH_COMMITS = `
  create table seen (setting text, lock_timeout text, statement_timeout text, idle_timeout text);
  create function see() returns trigger language plpgsql as $$ begin
    insert into seen values (current_setting('synchronous_commit'), current_setting('lock_timeout'),
      current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'));
    return null;
  end $$;
  create constraint trigger see after insert or update on ledger_head
    deferrable initially deferred for each row execute function see()`

describe.skipIf(!hasPgbouncer())('behind PgBouncer in transaction mode', () => {
  let database: TestDatabase
  let pooler: Pooler
  let remit: TestRemit
  /** Past the pooler. */
  let direct: Database<CoreTables>
  beforeAll(async () => {
    database = await createDatabase('postgres')
    direct = openPatiently<CoreTables>(database.url)
    const name = new URL(database.url).pathname.slice(1)
    await sql.raw(`alter database ${name} set synchronous_commit = off`).execute(direct)
    const migrating = await createTestRemit({ url: database.url })
    await migrating.close()
    await sql.raw(WATCH_COMMITS).execute(direct)
    pooler = await startPgbouncer(database.url)
    remit = await createTestRemit({ url: pooler.url, isPooled: true })
  })
  afterAll(async () => {
    await remit.close()
    await pooler.stop()
    await direct.destroy()
    await database.drop()
  })

  test('every commit to a ledger is durable, and nothing in it waits for ever', async () => {
    const orgs = await Promise.all(Array.from({ length: 8 }, () => remit.organization()))
    await Promise.all(
      orgs.map(async ({ id }) => {
        for (let n = 0; n < 25; n++) await append(remit, id, [decisionDraft(n)])
        await remit.key(id, 'read')
      }),
    )

    const { rows } = await sql`
      select *, count(*) >= 216 as all from seen group by 1, 2, 3, 4`.execute(direct)
    const limits = { lock_timeout: '4s', statement_timeout: '9s', idle_timeout: '10s' }
    expect(rows).toEqual([{ setting: 'on', ...limits, all: true }])
  })

  test('it is noticed that a session does not outlive a statement', async () => {
    expect(await hasPersistentSessions(pooler.url)).toBe(false)
    expect(await hasPersistentSessions(database.url)).toBe(true)
  })

  test('a pooler in session mode passes for PostgreSQL itself', async () => {
    const session = await startPgbouncer(database.url, 'session')

    expect(await hasPersistentSessions(session.url)).toBe(true)
    await session.stop()
  })

  test('polling hears of what another process recorded', async () => {
    const { id } = await remit.organization()
    const own = openPatiently<CoreTables>(pooler.url)
    const signals = pollingSignals(own, { onError: () => undefined, everyMs: 20 })
    const heard = new Set<string>()
    signals.subscribe('any', (orgId) => void heard.add(orgId))

    await vi.waitFor(async () => {
      await append(remit, id, [decisionDraft(1)])
      expect(heard).toEqual(new Set([id]))
    })

    await signals.close()
    await own.destroy()
  })
})

describe('polling for signals', () => {
  test('a database that cannot be read is told of once, and asked again', async () => {
    const database = await createDatabase('postgres')
    const db = openPatiently<CoreTables>(database.url)
    const errors: Error[] = []
    const signals = pollingSignals(db, { onError: (error) => errors.push(error), everyMs: 10 })
    const heard: string[] = []
    signals.subscribe('any', (orgId) => void heard.push(orgId))
    await vi.waitFor(() => expect(errors).toHaveLength(1))

    const remit = await createTestRemit({ url: database.url })
    await remit.organization()
    const { id } = await remit.organization()
    await vi.waitFor(async () => {
      await append(remit, id, [decisionDraft(1)])
      expect(heard).toContain(id)
    })

    expect(errors).toHaveLength(1)
    await signals.close()
    await remit.close()
    await db.destroy()
    await database.drop()
  })
})

/** More of them find what is lost rarely. */
const KILLS = Number(process.env['REMIT_TEST_KILLS'] ?? 3)
const MOST_MS = 120_000

describe.skipIf(!isRun)('a PostgreSQL that does not commit durably by itself', () => {
  test(
    'loses nothing that was answered through a pooler when it is killed again and again',
    { timeout: KILLS * MOST_MS },
    async () => {
      let postgres = await startPostgres()
      const admin = openPatiently<CoreTables>(postgres.url)
      await sql`alter system set synchronous_commit = off`.execute(admin)
      // Data that is not flushed at the commit is not flushed by chance before the kill either.
      await sql`alter system set wal_writer_delay = '10s'`.execute(admin)
      await sql`alter system set wal_writer_flush_after = '1GB'`.execute(admin)
      await sql`select pg_reload_conf()`.execute(admin)
      await admin.destroy()
      const migrating = await createTestRemit({ url: postgres.url })
      await migrating.close()
      const answered = new Map<string, string>()
      for (let kill = 0; kill < KILLS; kill++) {
        const orgs = await decideUntilKilled(postgres, answered)
        postgres = await startPostgres(postgres.folder, postgres.port)
        await expectAllThere(postgres.url, answered, orgs)
      }
      await postgres.stop()
      rmSync(postgres.folder, { recursive: true, force: true })
    },
  )
})

/** Kills the server under load; adds what was answered before, and returns the organizations. */
async function decideUntilKilled(
  postgres: Awaited<ReturnType<typeof startPostgres>>,
  answered: Map<string, string>,
): Promise<readonly TestOrganization[]> {
  const pooler = await startPgbouncer(postgres.url)
  const remit = await createTestRemit({ url: pooler.url, isPooled: true })
  const orgs = await Promise.all(Array.from({ length: 6 }, () => remit.organization()))
  const killed = new AbortController()
  const decide = async ({ id }: TestOrganization) => {
    while (!killed.signal.aborted) {
      const [receipt] = await append(remit, id, [decisionDraft(1)])
      if (receipt) answered.set(`${id} ${receipt.seq}`, receipt.hash)
    }
  }
  const before = answered.size
  const load = Promise.allSettled(orgs.map(decide))
  await vi.waitUntil(() => answered.size > before + 200, { timeout: MOST_MS })

  const [pid] = readFileSync(join(postgres.folder, 'postmaster.pid'), 'utf8').split('\n')
  process.kill(Number(pid), 'SIGQUIT')
  killed.abort()
  // The pooler would let everybody wait for a server that does not come back.
  await Promise.all([postgres.stop(), pooler.stop()])
  await load
  await remit.close()
  return orgs
}

async function expectAllThere(
  url: string,
  answered: ReadonlyMap<string, string>,
  orgs: readonly TestOrganization[],
): Promise<void> {
  const db = openPatiently<CoreTables>(url)
  const rows = await db.selectFrom('ledger_entry').select(['org_id', 'seq', 'hash']).execute()
  const kept = new Map(rows.map(({ org_id, seq, hash }) => [`${org_id} ${seq}`, hash]))
  expect([...answered].filter(([place, hash]) => kept.get(place) !== hash)).toEqual([])
  for (const { id } of orgs) expect((await verifyDatabase(db, id)).errors).toEqual([])
  await db.destroy()
}
