import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/open.ts'
import { createDatabase, createTestRemit } from '../../src/testing/index.ts'

describe('a commit is on disk when it is answered', () => {
  test('SQLite runs with synchronous=FULL in WAL mode, on the connection that writes', async () => {
    const remit = await createTestRemit()

    const pragmas = await remit.db.transaction().execute(async (tx) => ({
      synchronous: (await sql<{ synchronous: number }>`pragma synchronous`.execute(tx)).rows[0],
      journal: (await sql<{ journal_mode: string }>`pragma journal_mode`.execute(tx)).rows[0],
    }))

    expect(pragmas).toEqual({
      synchronous: { synchronous: 2 },
      journal: { journal_mode: 'wal' },
    })
    await remit.close()
  })

  test('PostgreSQL commits synchronously, even for a role whose default is not to', async () => {
    const database = await createDatabase('postgres')
    const role = new pg.Client({ connectionString: database.url })
    await role.connect()
    const { pathname } = new URL(database.url)
    await role.query(
      `alter role current_user in database ${pathname.slice(1)} set synchronous_commit = off`,
    )
    await role.end()

    const plain = new pg.Client({ connectionString: database.url })
    await plain.connect()
    expect((await plain.query('show synchronous_commit')).rows).toEqual([
      { synchronous_commit: 'off' },
    ])
    await plain.end()

    const db = openDatabase<Record<never, never>>(database.url)
    const shown = await Promise.all(
      Array.from({ length: 3 }, () =>
        db.transaction().execute((tx) => sql`show synchronous_commit`.execute(tx)),
      ),
    )
    for (const { rows } of shown) expect(rows).toEqual([{ synchronous_commit: 'on' }])
    await db.destroy()
    await database.drop()
  })

  test('a stricter setting of the server is left as it is', async () => {
    const database = await createDatabase('postgres')
    const strict = new URL(database.url)
    strict.searchParams.set('options', '-c synchronous_commit=remote_apply')

    const db = openDatabase<Record<never, never>>(strict.toString())

    const { rows } = await sql`show synchronous_commit`.execute(db)
    expect(rows).toEqual([{ synchronous_commit: 'remote_apply' }])
    await db.destroy()
    await database.drop()
  })
})
