import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, DIALECTS, openPatiently } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
import { column, dialectOf } from './portable.ts'
import { bulkInsert } from './write-rows.ts'

type Row = { readonly id: string; readonly amount: number | null }

describe.each(DIALECTS)('bulkInsert on %s', (dialect) => {
  let created: TestDatabase
  let db: Kysely<{ thing: Row }>
  beforeAll(async () => {
    created = await createDatabase(dialect)
    db = openPatiently(created.url)
    const { text, integer } = column(db)
    await sql`create table thing (id ${text} primary key, amount ${integer})`.execute(db)
  })
  beforeEach(() => db.deleteFrom('thing').execute())
  afterAll(async () => {
    await db.destroy()
    await created.drop()
  })

  const COLUMNS = { id: 'text', amount: 'bigint' } as const
  const all = () => db.selectFrom('thing').selectAll().orderBy('id').execute()
  const rows = (count: number): Row[] =>
    Array.from({ length: count }, (_, i) => ({ id: String(i).padStart(6, '0'), amount: i }))

  it('knows its database', () => {
    expect(dialectOf(db)).toBe(dialect)
  })

  it.each([0, 1, 2, 7, 8, 9, 63, 64, 65, 100, 512, 1_000])('inserts %i rows', async (count) => {
    await bulkInsert(db, 'thing', COLUMNS, rows(count))

    expect(await all()).toEqual(rows(count))
  })

  it('keeps text and numbers exactly', async () => {
    const given: Row[] = [
      { id: "'; drop table thing; --", amount: Number.MAX_SAFE_INTEGER },
      { id: '\\ " \n \u{1f98a}', amount: -1 },
      { id: '', amount: null },
    ]

    await bulkInsert(db, 'thing', COLUMNS, given)

    expect(await all()).toEqual(
      given.toSorted((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))),
    )
  })

  it('orders text by its bytes on every database', async () => {
    await bulkInsert(
      db,
      'thing',
      COLUMNS,
      ['b', 'A', 'a', 'B', '_', 'é'].map((id) => ({ id, amount: 1 })),
    )

    expect((await all()).map(({ id }) => id)).toEqual(['A', 'B', '_', 'a', 'b', 'é'])
  })

  it('takes an `on conflict`, also for rows of many chunks', async () => {
    await bulkInsert(db, 'thing', COLUMNS, rows(100))

    await bulkInsert(
      db,
      'thing',
      COLUMNS,
      rows(150),
      'on conflict (id) do update set amount = thing.amount + excluded.amount',
    )

    expect(await all()).toEqual(
      rows(150).map(({ id, amount }, i) => ({ id, amount: (amount ?? 0) * (i < 100 ? 2 : 1) })),
    )
  })

  it('takes other columns of the same table the next time', async () => {
    await bulkInsert(db, 'thing', { id: 'text' }, [{ id: 'a' }])
    await bulkInsert(db, 'thing', COLUMNS, [{ id: 'b', amount: 1 }])

    expect(await all()).toEqual([
      { id: 'a', amount: null },
      { id: 'b', amount: 1 },
    ])
  })

  it('inserts nothing when one row cannot be', async () => {
    const twice = [...rows(70), ...rows(1)]

    await expect(
      db.transaction().execute((tx) => bulkInsert(tx, 'thing', COLUMNS, twice)),
    ).rejects.toThrow(/unique/i)

    expect(await all()).toEqual([])
  })
})
