import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isUnavailable } from '../../src/db/failure.ts'
import { openDatabase } from '../../src/db/open.ts'
import { clientClass } from '../../src/db/postgres-client.ts'
import { createDatabase } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
import { startCommitProxy } from '../support/commit-proxy.ts'
import type { CommitProxy } from '../support/commit-proxy.ts'

let created: TestDatabase
beforeEach(async () => {
  created = await createDatabase('postgres')
})
afterEach(() => created.drop())

describe('a query that PostgreSQL does not answer', () => {
  let proxy: CommitProxy
  let db: Kysely<never>
  beforeEach(async () => {
    proxy = await startCommitProxy(created.url)
    db = openDatabase<never>(proxy.url, { poolSize: 1, answerMs: 300 })
  })
  afterEach(async () => {
    await db.destroy()
    await proxy.close()
  })

  const one = (on: Kysely<never>) => sql<{ one: number }>`select 1 as one`.execute(on)

  it('fails after a while as "not now", and its connection serves nobody else', async () => {
    const held = proxy.next('held')
    const failure = await db
      .transaction()
      .execute(one)
      .catch((error: unknown) => error)
    await held

    // Of the rollback: it was not even tried.
    expect(failure).toMatchObject({ message: 'Client was closed and is not queryable' })
    expect(isUnavailable(failure)).toBe(true)
    proxy.release()
    expect((await one(db)).rows).toEqual([{ one: 1 }])
  })

  it('does not end a connection whose queries are answered', async () => {
    // Longer than a busy machine takes for one of them, and shorter than all together.
    const patient = openDatabase<never>(proxy.url, { poolSize: 1, answerMs: 1_800 })
    const pid = async () =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(patient)).rows
    try {
      const before = await pid()
      for (let i = 0; i < 4; i++) await sql`select pg_sleep(0.5)`.execute(patient)

      expect(await pid()).toEqual(before)
    } finally {
      await patient.destroy()
    }
  })
})

describe('the client', () => {
  let client: pg.Client
  beforeEach(async () => {
    client = new (clientClass(5_000))(created.url)
    await client.connect()
  })
  afterEach(() => client.end())

  it('takes parameters and gives rows', async () => {
    const { rows, rowCount } = await client.query('select $1::int + 1 as next, $2 as text', [
      1,
      'a',
    ])

    expect(rows).toEqual([{ next: 2, text: 'a' }])
    expect(rowCount).toBe(1)
  })

  it('gives the errors of PostgreSQL, and goes on', async () => {
    await expect(client.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' })
    await expect(client.query('select $1::int', ['x'])).rejects.toMatchObject({ code: '22P02' })
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('fails when an answer takes too long, and at once from then on', async () => {
    const impatient = new (clientClass(200))(created.url)
    await impatient.connect()

    await expect(impatient.query('select pg_sleep(2)')).rejects.toThrow('Query read timeout')
    await expect(impatient.query('select 1')).rejects.toThrow('not queryable')
  })

  it('rolls back a statement that waits for BEGIN', async () => {
    await client.query('create table note (text text)')
    const begun = client.query('begin')
    const written = client.query('insert into note values ($1)', ['written'])
    const ended = client.query('rollback')
    await Promise.all([begun, written, ended])

    expect((await client.query('select * from note')).rows).toEqual([])
  })

  it('ends after a statement that it cannot send: COMMIT must not follow', async () => {
    const own = new (clientClass(5_000))(created.url)
    await own.connect()
    await own.query('create table note (text text)')
    await own.query('begin')
    await own.query("insert into note values ('first')")
    const broken = {
      toPostgres() {
        throw new Error('unwritable')
      },
    }
    const refused = own.query('insert into note values ($1)', [broken])
    const committed = own.query('commit')

    await expect(refused).rejects.toThrow('unwritable')
    await expect(committed).rejects.toThrow('not queryable')
    expect((await client.query('select * from note')).rows).toEqual([])
  })

  it('answers callbacks, configurations and queries with events like any other', async () => {
    const called = await new Promise((resolve, reject) => {
      client.query('select 1 as one', (error, result) => (error ? reject(error) : resolve(result)))
    })
    const given = await new Promise((resolve, reject) => {
      client.query('select $1 as two', ['2'], (error, result) =>
        error ? reject(error) : resolve(result),
      )
    })
    const configured = await client.query({ text: 'select 3 as three', rowMode: 'array' })
    const told = await new Promise((resolve, reject) => {
      client.query(new pg.Query('select 4 as four')).on('row', resolve).on('error', reject)
    })

    expect(called).toMatchObject({ rows: [{ one: 1 }] })
    expect(given).toMatchObject({ rows: [{ two: '2' }] })
    expect(configured.rows).toEqual([[3]])
    expect(told).toEqual({ four: 4 })
  })
})
