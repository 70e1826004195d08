import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/open.ts'
import type { Database } from '../../src/db/open.ts'
import type { CoreTables } from '../../src/db/schema.ts'
import { lockHead } from '../../src/ledger/store/store.ts'
import { createMigratedDatabase, createTestRemit } from '../../src/testing/index.ts'
import type { TestDatabase, TestRemit } from '../../src/testing/index.ts'
import { startBeginProxy } from '../support/begin-proxy.ts'
import type { BeginProxy } from '../support/begin-proxy.ts'
import { append, decisionDraft } from '../support/drafts.ts'

describe('BEGIN', () => {
  let database: TestDatabase
  let proxy: BeginProxy
  let remit: TestRemit
  let db: Database<CoreTables>
  beforeAll(async () => {
    database = await createMigratedDatabase('postgres')
    proxy = await startBeginProxy(database.url)
    remit = await createTestRemit({ url: proxy.url })
    db = openDatabase<CoreTables>(proxy.url, { poolSize: 1, answerMs: 5_000 })
    await sql`create table note (text text)`.execute(db)
  })
  beforeEach(() => {
    proxy.fate = 'pass'
  })
  afterAll(async () => {
    await db.destroy()
    await remit.close()
    await proxy.close()
    await database.drop()
  })

  const write = (on: Kysely<CoreTables>) => sql`insert into note values ('written')`.execute(on)
  const notes = async () => (await sql`select * from note`.execute(db)).rows
  const pid = async () => (await sql`select pg_backend_pid() as pid`.execute(db)).rows

  test('is sent together with the lock of the ledger head', async () => {
    const { id } = await remit.organization()
    proxy.fate = 'answered after the lock'

    const [receipt] = await append(remit, id, [decisionDraft(1)])

    expect(receipt?.seq).toBe(3)
  })

  test('that fails lets no statement run outside of the transaction', async () => {
    const { id } = await remit.organization()
    const before = await pid()
    proxy.fate = 'garbled'
    const refused = { code: '42601' }

    const writing = db.transaction().execute(write)
    await expect(writing).rejects.toMatchObject(refused)
    const unaware = db.transaction().execute(async (tx) => {
      await lockHead(tx, id).catch(() => undefined)
      await write(tx)
    })
    await expect(unaware).rejects.toMatchObject(refused)
    const heedless = db.transaction().execute(async (tx) => {
      await Promise.allSettled([lockHead(tx, id), write(tx), write(tx)])
      await write(tx).catch(() => undefined)
    })
    await expect(heedless).rejects.toMatchObject(refused)
    await expect(append(remit, id, [decisionDraft(1)])).rejects.toMatchObject({
      code: 'ledger_unavailable',
    })

    proxy.fate = 'pass'
    expect(await notes()).toEqual([])
    await db.transaction().execute(write)
    expect(await notes()).toEqual([{ text: 'written' }])
    // ROLLBACK ended the failed transactions, so that the connection is as good as before.
    expect(await pid()).toEqual(before)
    expect(await append(remit, id, [decisionDraft(1)])).toMatchObject([{ seq: 3 }])
  })

  test('that is not answered yet is undone by a transaction without statements', async () => {
    await db
      .transaction()
      .execute(() => Promise.reject(new Error('changed my mind')))
      .catch(() => undefined)

    const { rows } = await sql`select now() = statement_timestamp() as "isAlone"`.execute(db)
    expect(rows).toEqual([{ isAlone: true }])
  })
})
