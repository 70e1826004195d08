import { dialectOf } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import { sql } from 'kysely'

/** Tables of background work, which follows the ledger whenever its time comes. */
const FOLLOWING = /^(?:stat_|usage_|process_lease$|ledger_watch$)/

/** Every row of every table that requests change, as text, by the name of the table. */
export async function tablesOf(db: AnyDatabase): Promise<Record<string, string[]>> {
  const names =
    dialectOf(db) === 'postgres'
      ? sql<{
          name: string
        }>`select table_name as name from information_schema.tables where table_schema = 'public'`
      : sql<{ name: string }>`select name from sqlite_master where type = 'table'`
  const tables: Record<string, string[]> = {}
  for (const { name } of (await names.execute(db)).rows) {
    if (FOLLOWING.test(name)) continue
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(db)
    tables[name] = rows.map((row) => JSON.stringify(row)).toSorted()
  }
  return tables
}
