import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { boot } from '../src/boot/boot.ts'
import { closeStorage, openStorage } from '../src/boot/database.ts'
import { hasModules } from '../src/boot/modules.ts'
import { readConfig } from '../src/settings/config.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

/** Connections for everything but transactions that write ledgers. */
const CONNECTIONS = 10
const log = pino({ level: 'silent' })

let installation: Installation
beforeAll(async () => {
  installation = await createInstallation('postgres')
})
afterAll(() => installation.remove())

test.skipIf(!hasModules())('a server decides while reads occupy their connections', async () => {
  const booted = await boot(readConfig(installation.env), { log, background: false })
  const { key } = await booted.newOrganization('acme')
  const decide = () =>
    booted.remit.app.request('/v1/authorize', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key.secret}` },
      body: JSON.stringify({ agent_id: 'reader', action: 'files.read' }),
    })
  expect((await decide()).status).toBe(200)

  const read = Promise.withResolvers<void>()
  let occupied = 0
  const reads = Array.from({ length: CONNECTIONS }, () =>
    booted.db.connection().execute(() => {
      occupied += 1
      return read.promise
    }),
  )
  await vi.waitFor(() => expect(occupied).toBe(CONNECTIONS), { timeout: 60_000 })
  const { status } = await decide()
  read.resolve()
  await Promise.all(reads)
  await booted.remit.close()

  expect(status).toBe(200)
})

test('a storage closes every connection that it has opened', async () => {
  const storage = await openStorage(readConfig(installation.env), log)
  const { db, ledgerDb } = storage
  for (const pool of [db, ledgerDb]) await sql`select 1`.execute(pool ?? db)

  await closeStorage(storage)

  for (const pool of [db, ledgerDb])
    await expect(sql`select 1`.execute(pool ?? db)).rejects.toThrow(/destroyed/)
})

test('a start that fails leaves no connection', async () => {
  const other = await createInstallation('postgres', { hasTables: false })
  const config = readConfig({ ...other.env, REMIT_MIGRATE: 'check' })

  await expect(boot(config, { log })).rejects.toThrow(/pending/)

  const others = () =>
    other.database(async (db) => {
      const { rows } = await sql`select application_name from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(db)
      return rows
    })
  await vi.waitFor(async () => expect(await others()).toEqual([]), { timeout: 60_000 })
  await other.remove()
})
