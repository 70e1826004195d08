import { dialectOf } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import { sql } from 'kysely'

/** Every row of an organization in every table as text, to see whether anything at all has changed. */
export async function dump(db: AnyDatabase, orgId: string): Promise<Record<string, string[]>> {
  const names =
    dialectOf(db) === 'postgres'
      ? sql<{
          name: string
        }>`select table_name as name from information_schema.tables where table_schema = 'public'`
      : sql<{ name: string }>`select name from sqlite_master where type = 'table'`
  const tables: Record<string, string[]> = {}
  for (const { name } of (await names.execute(db)).rows.toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(db)
    tables[name] = rows
      .map((row) => JSON.stringify(row))
      .filter((row) => row.includes(orgId))
      .toSorted()
  }
  return tables
}
