import { hasPgbouncer, startPgbouncer } from '@remit/testing'
import type { Pooler } from '@remit/testing'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { boot } from '../src/boot/boot.ts'
import { closeStorage, openStorage } from '../src/boot/database.ts'
import { readConfig } from '../src/settings/config.ts'
import { cli } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

const POOLED = /connects through a pooler in transaction mode/

/** The connections that listen. */
const listeners = (installation: Installation) =>
  installation.database(async (db) => {
    const { rows } = await sql`select application_name as name from pg_stat_activity
      where datname = current_database() and query = 'listen remit'`.execute(db)
    return rows
  })

describe.skipIf(!hasPgbouncer())('a server behind PgBouncer in transaction mode', () => {
  let installation: Installation
  let pooler: Pooler
  let pooled: Record<string, string>
  let withDirect: Record<string, string>
  beforeAll(async () => {
    installation = await createInstallation('postgres', { hasTables: false })
    const direct = installation.env['REMIT_DATABASE_URL'] ?? ''
    pooler = await startPgbouncer(direct)
    pooled = { ...installation.env, REMIT_DATABASE_URL: pooler.url }
    withDirect = { ...pooled, REMIT_DATABASE_DIRECT_URL: direct }
  })
  afterAll(async () => {
    await pooler.stop()
    await installation.remove()
  })

  const booted = async (env: Record<string, string>) => {
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const product = await boot(readConfig(env), { log, background: false })
    return { ...product, about: lines.filter((line) => POOLED.test(line)) }
  }

  test('does not migrate without a direct URL, and names the setting', async () => {
    const { code, stderr } = await cli(['migrate'], pooled)

    expect(code).toBe(78)
    expect(stderr).toMatch(/REMIT_DATABASE_DIRECT_URL must be set for migrations/)
    await expect(boot(readConfig(pooled), { log: pino({ level: 'silent' }) })).rejects.toThrow(
      /REMIT_DATABASE_DIRECT_URL must be set for migrations/,
    )
    const tables = installation.database((db) =>
      db.selectFrom('organization').selectAll().execute(),
    )
    await expect(tables).rejects.toThrow(/does not exist/)
  })

  test('migrates through the direct URL; up to date, it starts without one and says once what it does', async () => {
    expect((await cli(['migrate'], withDirect)).code).toBe(0)
    const first = await booted(pooled)
    await first.remit.close()
    const second = await booted(withDirect)
    await second.remit.close()

    expect(first.about).toHaveLength(1)
    expect(first.about[0]).toMatch(/the database is polled once a second/)
    expect(second.about).toHaveLength(1)
    expect(second.about[0]).toMatch(/LISTEN and migrations use REMIT_DATABASE_DIRECT_URL/)
    // Up to date or not, the command would need a session.
    expect((await cli(['migrate'], pooled)).code).toBe(78)
  })

  test('hears of what another process records, and does not listen', async () => {
    const storage = await openStorage(readConfig(pooled), pino({ level: 'silent' }))
    const other = await booted(pooled)
    const heard = new Set<string>()
    storage.signals.subscribe('any', (orgId) => void heard.add(orgId))
    let count = 0

    await vi.waitFor(
      async () => {
        await other.newOrganization(`org ${count++}`)
        expect(heard.size).toBeGreaterThan(0)
      },
      { timeout: 60_000, interval: 200 },
    )

    expect(await listeners(installation)).toEqual([])
    await other.remit.close()
    await closeStorage(storage)
  })

  test('prepares no statements, which would be on another session the next time', async () => {
    const prepared = async (env: Record<string, string>) => {
      const { db, signals } = await openStorage(readConfig(env), pino({ level: 'silent' }))
      const counts: number[] = []
      for (let n = 0; n < 5; n++) {
        await db.transaction().execute(async (tx) => {
          await sql`select ${n}::int`.execute(tx)
          const { rows } = await sql`select from pg_prepared_statements`.execute(tx)
          counts.push(rows.length)
        })
      }
      await signals.close()
      await db.destroy()
      return Math.max(...counts)
    }

    expect(await prepared(pooled)).toBe(0)
    expect(await prepared(withDirect)).toBe(0)
    expect(await prepared(installation.env)).toBe(1)
  })

  test('a direct URL that is none is refused', async () => {
    const env = { ...pooled, REMIT_DATABASE_DIRECT_URL: pooler.url }

    const { code, stderr } = await cli(['org', 'list'], env)
    expect([code, stderr]).toEqual([0, ''])
    const created = await cli(['migrate'], env)
    expect(created.code).toBe(78)
    expect(created.stderr).toMatch(/REMIT_DATABASE_DIRECT_URL must connect to PostgreSQL directly/)
    expect(created.stderr).not.toContain(pooler.url)
  })
})

test('PostgreSQL itself is listened to, and nothing is said of poolers', async () => {
  const installation = await createInstallation('postgres', { hasTables: false })
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const { remit } = await boot(readConfig(installation.env), { log, background: false })

  expect(lines.filter((line) => POOLED.test(line))).toEqual([])
  await vi.waitFor(
    async () => expect(await listeners(installation)).toEqual([{ name: 'remit-signals' }]),
    { timeout: 60_000 },
  )
  await remit.close()
  await installation.remove()
})
