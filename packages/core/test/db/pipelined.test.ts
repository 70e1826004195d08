import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/open.ts'
import type { Database } from '../../src/db/open.ts'
import type { CoreTables } from '../../src/db/schema.ts'
import { lockHead } from '../../src/ledger/store/store.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { createMigratedDatabase, createTestRemit } from '@remit/testing'
import type { TestDatabase, TestRemit } from '@remit/testing'
import { startOrderProxy } from '../support/order-proxy.ts'
import type { OrderProxy } from '../support/order-proxy.ts'
import { append, decisionDraft } from '../support/drafts.ts'

describe('a transaction', () => {
  let database: TestDatabase
  let proxy: OrderProxy
  let remit: TestRemit
  let db: Database<CoreTables>
  beforeAll(async () => {
    database = await createMigratedDatabase('postgres')
    proxy = await startOrderProxy(database.url)
    remit = await createTestRemit({ url: proxy.url })
    db = openDatabase<CoreTables>(proxy.url, { poolSize: 1, answerMs: 5_000 })
    await sql`create table note (text text)`.execute(db)
  })
  beforeEach(() => {
    proxy.hold = null
    proxy.garblesBegin = false
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

  test('sends BEGIN together with the lock of the ledger head', async () => {
    const { id } = await remit.organization()
    // The lock's parameter: a statement that is prepared has no text.
    proxy.hold = { from: 'begin\0', until: id }

    const [receipt] = await append(remit, id, [decisionDraft(1)])

    expect(receipt?.seq).toBe(3)
  })

  test('whose BEGIN fails runs no statement outside of it', async () => {
    const { id } = await remit.organization()
    const before = await pid()
    proxy.garblesBegin = true
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

    proxy.garblesBegin = false
    expect(await notes()).toEqual([])
    await db.transaction().execute(write)
    expect(await notes()).toEqual([{ text: 'written' }])
    // ROLLBACK ended the failed transactions, so that the connection is as good as before.
    expect(await pid()).toEqual(before)
    expect(await append(remit, id, [decisionDraft(1)])).toMatchObject([{ seq: 3 }])
  })

  test('without statements is undone before BEGIN is answered', async () => {
    await db
      .transaction()
      .execute(() => Promise.reject(new Error('changed my mind')))
      .catch(() => undefined)

    const { rows } = await sql`select now() = statement_timestamp() as "isAlone"`.execute(db)
    expect(rows).toEqual([{ isAlone: true }])
  })

  test('sends COMMIT together with its last rows', async () => {
    const { id } = await remit.organization()
    proxy.hold = { from: 'invoice:held', until: 'commit\0' }

    const [receipt] = await append(remit, id, [{ ...decisionDraft(1), resource: 'invoice:held' }])

    expect(receipt?.seq).toBe(3)
  })

  /** Makes PostgreSQL refuse the rows of the next commits of a ledger, before or in COMMIT. */
  const refuseRows = async (orgId: string, code: string, times: number, timing: string) => {
    await sql.raw(`create sequence refusal`).execute(db)
    await sql
      .raw(
        `create function refuse() returns trigger language plpgsql as $$ begin
          if new.org_id = '${orgId}' and nextval('refusal') <= ${times} then
            raise exception 'refused' using errcode = '${code}';
          end if;
          return null;
        end $$`,
      )
      .execute(db)
    await sql
      .raw(`create constraint trigger refuse after insert or update on ledger_head ${timing}
        for each row execute function refuse()`)
      .execute(db)
  }
  const acceptRows = async () => {
    await sql.raw(`drop function refuse cascade`).execute(db)
    await sql.raw(`drop sequence refusal`).execute(db)
  }

  test.each(['not deferrable', 'deferrable initially deferred'])(
    'whose last rows are refused (%s) writes nothing, and says so',
    async (timing) => {
      const { id } = await remit.organization()
      await refuseRows(id, 'P0001', 1, timing)

      const refused = append(remit, id, [decisionDraft(1)])

      await expect(refused).rejects.toMatchObject({ code: 'ledger_unavailable' })
      expect(await append(remit, id, [decisionDraft(2)])).toMatchObject([{ seq: 3 }])
      await acceptRows()
    },
  )

  test.each([
    ['40001', 'not deferrable'],
    ['40P01', 'not deferrable'],
    ['40001', 'deferrable initially deferred'],
  ])('that PostgreSQL gives up with %s (%s) is repeated', async (code, timing) => {
    const { id } = await remit.organization()
    await refuseRows(id, code, 2, timing)

    const [receipt] = await append(remit, id, [decisionDraft(1)])

    expect(receipt?.seq).toBe(3)
    expect(await append(remit, id, [decisionDraft(2)])).toMatchObject([{ seq: 4 }])
    expect(await verifyDatabase(db, id)).toMatchObject({ status: 'ok', checked: { entries: 5 } })
    await acceptRows()
  })
})
