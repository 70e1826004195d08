import { sql } from 'kysely'
import { dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/** A table whose rows belong to organizations. */
export interface OrganizationTable {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns of its primary key, in order. */
  readonly key: readonly string[]
}

interface Column {
  readonly table: string
  readonly name: string
  /** Position in the primary key, from 1; 0 outside of it. */
  readonly position: number
}

/**
 * Returns every table with a column `org_id`, as the database itself has them: also those of modules
 * that are not loaded.
 */
export async function organizationTables(db: AnyDatabase): Promise<OrganizationTable[]> {
  const { rows } = await (dialectOf(db) === 'postgres' ? postgresColumns : sqliteColumns).execute(
    db,
  )
  return [...Map.groupBy(rows, ({ table }) => table)]
    .map(([name, columns]) => ({
      name,
      columns: columns.map((column) => column.name),
      key: columns
        .filter(({ position }) => position > 0)
        .toSorted((a, b) => a.position - b.position)
        .map((column) => column.name),
    }))
    .filter(({ columns }) => columns.includes('org_id'))
}

const sqliteColumns = sql<Column>`
  select t.name as "table", c.name as name, c.pk as position
  from sqlite_master t join pragma_table_info(t.name) c
  where t.type = 'table' order by t.name, c.cid`

const postgresColumns = sql<Column>`
  select t.relname::text as "table", c.attname::text as name,
    coalesce(array_position(i.indkey::int2[], c.attnum) + 1, 0) as position
  from pg_class t
  join pg_namespace s on s.oid = t.relnamespace and s.nspname = current_schema()
  join pg_attribute c on c.attrelid = t.oid and c.attnum > 0 and not c.attisdropped
  left join pg_index i on i.indrelid = t.oid and i.indisprimary
  where t.relkind in ('r', 'p') order by t.relname, c.attnum`
