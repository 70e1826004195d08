import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { createDatabase, createTestRemit, openPatiently } from '@remit/testing'

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

  test('PostgreSQL commits synchronously, whatever the server is set to; only a stricter setting stays', async () => {
    const database = await createDatabase('postgres')
    const url = new URL(database.url)
    const found: [string, unknown][] = []
    for (const setting of ['off', 'local', 'remote_write', 'on', 'remote_apply']) {
      url.searchParams.set('options', `-c synchronous_commit=${setting}`)
      const db = openPatiently<Record<never, never>>(url.href)
      const { rows } = await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(
        db,
      )
      found.push([setting, rows[0]?.synchronous_commit])
      await db.destroy()
    }

    expect(found).toEqual([
      ['off', 'on'],
      ['local', 'on'],
      ['remote_write', 'on'],
      ['on', 'on'],
      ['remote_apply', 'remote_apply'],
    ])
    await database.drop()
  })
})
