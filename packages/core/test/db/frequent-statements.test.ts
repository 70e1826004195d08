import { sql } from 'kysely'
import type { Kysely, Transaction } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Stage } from '../../src/authorize/stage.ts'
import { on } from '../../src/db/portable.ts'
import type { CoreTables } from '../../src/db/schema.ts'
import { defineModule } from '../../src/module/module.ts'
import { createDatabase, createTestRemit, openPatiently } from '@remit/testing'
import type { TestDatabase, TestRemit } from '@remit/testing'
import { authorizeModule } from '../support/authorize-module.ts'

type Db = Kysely<never>

const USES = 5
const frequent = (db: Db, value: number) =>
  sql<{ next: number }>`select ${value}::int + 1 as next`.execute(db)

/** The texts of prepared statements of the connection. */
const prepared = async (db: Db): Promise<string[]> =>
  (
    await sql<{ text: string }>`select statement as text from pg_prepared_statements`.execute(db)
  ).rows.map(({ text }) => text)

const repeat = async (db: Db): Promise<void> => {
  for (let n = 0; n < USES; n++) expect((await frequent(db, n)).rows).toEqual([{ next: n + 1 }])
}

describe('a frequent statement', () => {
  let database: TestDatabase
  let db: Db
  beforeAll(async () => {
    database = await createDatabase('postgres')
    db = openPatiently<never>(database.url, { poolSize: 1, hasSessions: true })
  })
  afterAll(async () => {
    await db.destroy()
    await database.drop()
  })

  test('keeps a plan for its values outside of transactions that write', async () => {
    await repeat(db)
    await db.transaction().setAccessMode('read only').execute(repeat)

    expect(await prepared(db)).toEqual([])
  })

  test('stays prepared in transactions that write', async () => {
    const once = (tx: Transaction<never>) => sql`select ${1}::int as once`.execute(tx)
    await db.transaction().execute(once)
    for (let n = 0; n < USES; n++) {
      const { rows } = await db.transaction().execute((tx) => frequent(tx, n))
      expect(rows).toEqual([{ next: n + 1 }])
    }

    expect(await prepared(db)).toEqual(['select $1::int + 1 as next'])
  })

  test('is never prepared without the option', async () => {
    const plain = openPatiently<never>(database.url, { poolSize: 1 })
    await plain.transaction().execute(repeat)

    expect(await prepared(plain)).toEqual([])
    await plain.destroy()
  })
})

/** A decision that reads a row of a table which a migration may change. */
const reading: Stage = {
  unavailable: { reason: 'stage_unavailable', message: 'cannot answer' },
  load: () => Promise.resolve(null),
  prepare: (_asks, _snapshot, { orgId, tx }) =>
    on<CoreTables>(tx)
      .selectFrom('organization')
      .selectAll()
      .where('id', '=', orgId)
      .executeTakeFirstOrThrow(),
  decide: () => ({ verdict: 'pass' }),
}
const readingModule = defineModule({
  name: 'reading',
  setup: () => ({ stages: { policy: reading } }),
})

describe('a migration changes the columns of a prepared statement', () => {
  let remit: TestRemit
  beforeAll(async () => {
    const modules = [authorizeModule, readingModule]
    remit = await createTestRemit({ dialect: 'postgres', modules })
  })
  afterAll(() => remit.close())

  test.each(['ledger_head', 'organization'])('of %s, and no request fails', async (table) => {
    const orgs = await Promise.all(Array.from({ length: 8 }, () => remit.organization()))
    const body = { agent_id: 'a', action: 'b.c' }
    const askAll = () =>
      Promise.all(
        orgs.map(async ({ key }) => {
          const response = await remit.call('POST', '/v1/authorize', { key, body })
          return ((await response.json()) as { decision?: string }).decision
        }),
      )
    for (let n = 0; n < USES; n++) await askAll()

    for (const column of ['first_more', 'second_more']) {
      await sql`alter table ${sql.table(table)} add column ${sql.ref(column)} text`.execute(
        remit.db,
      )
      expect(await askAll()).toEqual(orgs.map(() => 'allow'))
    }
  })
})
