import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { createDatabase } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
import { openDatabase } from './open.ts'

let created: TestDatabase
let db: Kysely<never>
afterEach(async () => {
  await db.destroy()
  await created.drop()
})

async function open(dialect: 'sqlite' | 'postgres', prepare?: (url: string) => Promise<void>) {
  created = await createDatabase(dialect)
  await prepare?.(created.url)
  db = openDatabase<never>(created.url)
  const ask = async (name: string) => {
    const text = dialect === 'sqlite' ? `pragma ${name}` : `show ${name}`
    const { rows } = await sql.raw<Record<string, unknown>>(text).execute(db)
    return Object.values(rows[0] ?? {})[0]
  }
  return ask
}

describe('openDatabase', () => {
  it('opens SQLite so that a commit is on disk when it returns', async () => {
    const ask = await open('sqlite')

    expect([
      await ask('synchronous'),
      await ask('journal_mode'),
      await ask('foreign_keys'),
    ]).toEqual([2, 'wal', 1])
  })

  it('makes files that only their owner can read', async () => {
    created = await createDatabase('sqlite')
    const folder = join(dirname(created.url.slice('sqlite:'.length)), 'made')
    db = openDatabase<never>(`sqlite:${join(folder, 'remit.db')}`)
    await sql`create table thing (id integer)`.execute(db)
    const files = readdirSync(folder)
    const modes = [folder, ...files.map((name) => join(folder, name))].map(
      (path) => statSync(path).mode & 0o777,
    )

    expect(files.toSorted()).toEqual(['remit.db', 'remit.db-shm', 'remit.db-wal'])
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600])
  })

  it('opens PostgreSQL so that a commit is on disk when it returns, whatever the database is set to', async () => {
    const ask = await open('postgres', async (url) => {
      const admin = openDatabase<never>(url)
      await sql
        .raw(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = off`)
        .execute(admin)
      await admin.destroy()
    })

    expect(await ask('synchronous_commit')).toBe('on')
  })

  it('lets nothing on PostgreSQL wait for ever', async () => {
    const ask = await open('postgres')

    expect([
      await ask('lock_timeout'),
      await ask('statement_timeout'),
      await ask('idle_in_transaction_session_timeout'),
    ]).toEqual(['4s', '9s', '10s'])
  })

  it('gives 64-bit counts as numbers', async () => {
    await open('postgres')

    const { rows } = await sql<{ n: unknown }>`select 9007199254740991::bigint as n`.execute(db)

    expect(rows[0]?.n).toBe(Number.MAX_SAFE_INTEGER)
  })

  it('refuses to write to a SQLite that was opened for reading', async () => {
    await open('sqlite')
    await sql`create table thing (id integer)`.execute(db)
    const reading = openDatabase<never>(created.url, { readonly: true })

    await expect(sql`insert into thing values (1)`.execute(reading)).rejects.toThrow(/readonly/)

    expect((await sql`select * from thing`.execute(reading)).rows).toEqual([])
    await reading.destroy()
  })
})
