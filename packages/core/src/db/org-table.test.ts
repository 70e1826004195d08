import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, fullDialects, openPatiently } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
import { deleteInBatches } from './cleanup.ts'
import { orgTable } from './org-table.ts'
import type { Where } from './org-table.ts'
import { column } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

type Tables = {
  thing: { org_id: string; id: string; color: string; size: number | null; created_at: string }
}

const things = orgTable<Tables, 'thing'>('thing', 'id', ['created_at'])
/** A query would throw. */
const noDatabase = {} as AnyDatabase
const thing = (org_id: string, id: string, color = 'red') =>
  ({ org_id, id, color, size: null, created_at: '2026-01-01' }) satisfies Tables['thing']

describe.each(fullDialects())('a table of organizations on %s', (dialect) => {
  let created: TestDatabase
  let db: Kysely<Tables>
  beforeAll(async () => {
    created = await createDatabase(dialect)
    db = openPatiently(created.url)
    const { text, integer } = column(db)
    await sql`create table thing (org_id ${text}, id ${text}, color ${text}, size ${integer},
      created_at ${text}, primary key (org_id, id))`.execute(db)
  })
  beforeEach(async () => {
    await db.deleteFrom('thing').execute()
    for (const row of [thing('a', '2'), thing('a', '1'), thing('a', '3', 'blue'), thing('b', '1')])
      await things.insert(db, row)
  })
  afterAll(async () => {
    await db.destroy()
    await created.drop()
  })

  const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

  it('lists the rows of one organization in order of their key, page by page', async () => {
    expect(idsOf(await things.list(db, 'a'))).toEqual(['1', '2', '3'])
    expect(idsOf(await things.list(db, 'a', { limit: 2 }))).toEqual(['1', '2'])
    expect(idsOf(await things.list(db, 'a', { limit: 2, after: '2' }))).toEqual(['3'])
    expect(await things.list(db, 'c')).toEqual([])
  })

  it('lists and counts the rows with a value', async () => {
    expect(idsOf(await things.list(db, 'a', { where: { color: 'red' } }))).toEqual(['1', '2'])
    // No condition reaches another organization.
    const [first] = await things.list(db, 'a', { where: { org_id: 'b' }, limit: 1 })
    expect(first?.org_id).toBe('a')
    expect(await things.count(db, 'a', { color: 'blue' })).toBe(1)
    expect(await things.count(db, 'a')).toBe(3)
    expect(await things.count(db, 'c')).toBe(0)
  })

  it('matches any value of a list, none of an empty one, and null', async () => {
    await things.update(db, { ...thing('a', '3'), size: 7 })
    const idsWhere = async (where: Where<Tables['thing']>) =>
      idsOf(await things.list(db, 'a', { where }))

    expect(await idsWhere({ id: ['1', '3', '4'] })).toEqual(['1', '3'])
    expect(await idsWhere({ id: ['1', '3'], color: 'red', size: null })).toEqual(['1'])
    expect(await idsWhere({ id: [] })).toEqual([])
    expect(await things.list(noDatabase, 'a', { where: { id: [] } })).toEqual([])
    expect(await things.count(db, 'a', { id: [] })).toBe(0)
    expect(await idsWhere({ size: null })).toEqual(['1', '2'])
  })

  it('changes columns of one row that has the given values', async () => {
    const green = { color: 'green' }

    expect(await things.change(db, 'a', '1', green, { color: 'blue' })).toBeUndefined()
    expect(await things.change(db, 'b', '2', green)).toBeUndefined()
    expect(await things.change(db, 'a', '1', green, { size: null })).toEqual(
      thing('a', '1', 'green'),
    )

    expect(await things.count(db, 'a', green)).toBe(1)
    expect(await things.count(db, 'b', green)).toBe(0)
  })

  it('finds and removes a row of its own organization only', async () => {
    expect(await things.find(db, 'b', '1')).toEqual(thing('b', '1'))
    expect(await things.find(db, 'b', '2')).toBeUndefined()
    expect(await things.remove(db, 'b', '2')).toBeUndefined()
    expect(await things.remove(db, 'b', '1')).toEqual(thing('b', '1'))
    expect(await things.count(db, 'b')).toBe(0)
    expect(await things.count(db, 'a')).toBe(3)
  })

  it.each(['put', 'update'] as const)('%s replaces all but constant columns', async (method) => {
    await things[method](db, { ...thing('a', '1', 'green'), size: 7, created_at: '2030-01-01' })

    expect(await things.find(db, 'a', '1')).toEqual({ ...thing('a', '1', 'green'), size: 7 })
    expect(await things.find(db, 'b', '1')).toEqual(thing('b', '1'))
  })

  it('inserts a new row with put, and none with update', async () => {
    await things.put(db, thing('c', '1'))
    await things.update(db, thing('c', '2'))

    expect(idsOf(await things.list(db, 'c'))).toEqual(['1'])
  })

  it('deletes matching rows in batches, unless it is aborted', async () => {
    for (let i = 0; i < 1_001; i++) await things.insert(db, thing('many', String(i), 'old'))
    const old = { table: 'thing', key: ['org_id', 'id'], where: sql`color = 'old'` }

    await deleteInBatches(db, null, AbortSignal.abort(), old)
    expect(await things.count(db, 'many')).toBe(1_001)
    await deleteInBatches(db, null, new AbortController().signal, old)

    expect(await things.count(db, 'many')).toBe(0)
    expect(await things.count(db, 'a')).toBe(3)
  })
})
