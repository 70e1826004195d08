import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, DIALECTS, openPatiently } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
import { migrate, pendingMigrations } from './migrate.ts'

const creating = (table: string): Migration => ({
  async up(db) {
    await sql`create table ${sql.table(table)} (id integer)`.execute(db)
  },
})

describe.each(DIALECTS)('migrations on %s', (dialect) => {
  let created: TestDatabase
  let db: Kysely<never>
  beforeEach(async () => {
    created = await createDatabase(dialect)
    db = openPatiently(created.url)
  })
  afterEach(async () => {
    await db.destroy()
    await created.drop()
  })

  const core = { name: 'core', migrations: { '0001_a': creating('a') } }
  const extra = { name: 'extra', migrations: { '0001_b': creating('b') } }

  it('run once, in their order, and say which ran', async () => {
    const more = { ...core, migrations: { ...core.migrations, '0002_c': creating('c') } }

    expect(await migrate(db, [core, extra])).toEqual(['core/0001_a', 'extra/0001_b'])
    expect(await migrate(db, [core, extra])).toEqual([])
    expect(await migrate(db, [more, extra])).toEqual(['core/0002_c'])
  })

  it('of a module that comes later disturb nobody', async () => {
    await migrate(db, [core])

    expect(await pendingMigrations(db, [core, extra])).toEqual(['extra/0001_b'])
    expect(await migrate(db, [extra, core])).toEqual(['extra/0001_b'])
    expect(await pendingMigrations(db, [core, extra])).toEqual([])
  })

  it('that fail leave nothing of themselves and stay pending', async () => {
    const failing: Migration = {
      async up(tx) {
        await sql`create table half (id integer)`.execute(tx)
        throw new Error('half-way')
      },
    }
    const broken = { name: 'core', migrations: { '0001_half': failing } }

    await expect(migrate(db, [broken])).rejects.toMatchObject({
      cause: { message: 'half-way' },
    })

    expect(await pendingMigrations(db, [broken])).toEqual(['core/0001_half'])
    await expect(sql`select * from half`.execute(db)).rejects.toThrow(/half/)
  })

  // SQLite waits without giving the event loop a turn, so one process cannot play two servers.
  it.skipIf(dialect === 'sqlite')(
    'run once when two servers start at the same moment',
    async () => {
      const second = openPatiently<never>(created.url)

      const ran = await Promise.all([migrate(db, [core, extra]), migrate(second, [core, extra])])

      expect(ran.flat().toSorted((a, b) => a.localeCompare(b))).toEqual([
        'core/0001_a',
        'extra/0001_b',
      ])
      await second.destroy()
    },
  )
})
