import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestRemit } from '../testing/index.ts'
import type { TestRemit } from '../testing/index.ts'
import { readPacked } from './verify-database-packed.ts'
import { verifyDatabase } from './verify-database.ts'

let remit: TestRemit
let id: string

beforeAll(async () => {
  remit = await createTestRemit({ dialect: 'postgres' })
  ;({ id } = await remit.organization())
  await sql`drop trigger ledger_entry_is_final on ledger_entry`.execute(remit.db)
})
afterAll(() => remit.close())

const set = (column: string, value: string | null, seq: number) =>
  sql`update ledger_entry set ${sql.ref(column)} = ${value} where org_id = ${id} and seq = ${seq}`.execute(
    remit.db,
  )
const stored = () =>
  remit.db.selectFrom('ledger_entry').selectAll().where('org_id', '=', id).orderBy('seq').execute()
const packed = () => readPacked(remit.db, id, null, 10, 100)

test('packed rows are the rows, also where columns are null, empty, or look like null', async () => {
  expect(await packed()).toEqual(await stored())
  await set('agent_id', '', 1)
  await set('action', '-', 1)
  await set('actor_id', '=', 1)
  await set('payload', null, 2)
  const rows = await stored()

  expect(rows[1]).toMatchObject({ agent_id: '', action: '-', actor_id: '=' })
  expect(await packed()).toEqual(rows)
  expect((await verifyDatabase(remit.db, id)).errors.map(({ seq }) => seq)).toEqual([1, 2, 2])
})

test('a column that holds what stands between columns is read as it is', async () => {
  await set('kind', 'organization.created\u0001-', 1)

  expect(await packed()).toBeNull()
  expect(
    (await verifyDatabase(remit.db, id)).errors.map(({ seq, code }) => `${seq} ${code}`),
  ).toContain('1 malformed_header')
})
