import { migrationTables, migrationSetsOf } from '@remit/core/db/open'
import type { MigrationSet } from '@remit/core/db/open'
import type { Placement } from '@remit/core/db'
import { coreModule } from '@remit/core/server'
import { citusNodes, createDatabase, runStatement } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadModules } from '../src/boot/modules.ts'
import { cli } from './support/cli.ts'

// On a cluster the tables are distributed already.
describe.skipIf(citusNodes().length > 0)('placements', () => {
  let sets: MigrationSet[]
  let declared: Map<string, Placement>
  let created: TestDatabase
  beforeAll(async () => {
    sets = migrationSetsOf([coreModule, ...(await loadModules())])
    declared = new Map(sets.flatMap(({ placements = {} }) => Object.entries(placements)))
    created = await createDatabase('postgres', sets)
  })
  afterAll(() => created.drop())

  const columns = async () =>
    (await runStatement(
      created.url,
      `select table_name as "table", array_agg(column_name::text) as names
        from information_schema.columns where table_schema = 'public' group by table_name`,
    )) as { table: string; names: string[] }[]

  test('are declared for every table, and for no other', async () => {
    const own = new Set(sets.flatMap((set) => migrationTables(set)))
    const found = (await columns()).map(({ table }) => table).filter((table) => !own.has(table))

    expect([...declared.keys()].toSorted()).toEqual(found.toSorted())
  })

  test('name columns that the tables have', async () => {
    const wrong = (await columns()).filter(({ table, names }) => {
      const placement = declared.get(table) ?? 'local'
      const column = /^by (\w+)/.exec(placement)?.[1]
      const isFound = !placement.includes('directory') || names.includes('id')
      return !isFound || (column !== undefined && !names.includes(column))
    })

    expect(wrong).toEqual([])
  })

  test('no table with the rows of an organization is local', async () => {
    const local = (await columns()).filter(
      ({ table, names }) => names.includes('org_id') && declared.get(table) === 'local',
    )

    expect(local).toEqual([])
  })

  test.each([
    ['SQLite', 'sqlite:./remit.db', /REMIT_DATABASE_URL must be the coordinator/],
    ['a PostgreSQL without the extension', null, /The extension citus is not installed/],
  ])('`remit distribute` refuses %s', async (_, url, message) => {
    const { code, stderr } = await cli(['distribute'], {
      REMIT_DATABASE_URL: url ?? created.url,
      REMIT_EVALUATION: '1',
    })

    expect(code).not.toBe(0)
    expect(stderr).toMatch(message)
  })
})

describe.runIf(citusNodes().length > 0)('placements on a cluster', () => {
  test('are where the tables are', async () => {
    const sets = migrationSetsOf([coreModule, ...(await loadModules())])
    const database = await createDatabase('postgres', sets)
    const placed = (await runStatement(
      database.url,
      `select logicalrelid::text as name,
        column_to_column_name(logicalrelid, partkey) as column from pg_dist_partition`,
    )) as { name: string; column: string | null }[]
    await database.drop()
    const declared = sets.flatMap(({ placements = {} }) => Object.entries(placements))

    const columns = new Map(placed.map(({ name, column }) => [name, column]))
    const found = declared.map(([name]) => [name, columns.get(name)])
    expect(found).toEqual(
      declared.map(([name, placement]) => [name, /^by (\w+)/.exec(placement)?.[1] ?? null]),
    )
  })
})
