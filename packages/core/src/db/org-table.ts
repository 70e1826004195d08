import { sql } from 'kysely'
import type { ExpressionBuilder } from 'kysely'
import { on, dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

type Cell = string | number | null
type Row = Record<string, Cell>
/** The columns of a generic table are unknown to Kysely. */
type AnyTables = { any: Row }

/** Columns with the value that they must have, or a list of such values. */
export type Where<R> = { readonly [Name in keyof R]?: R[Name] | readonly R[Name][] }

/** A part of a list, in the order of its key. */
export interface ListOptions<R> {
  readonly limit?: number
  /** The key of the last row of the previous page. */
  readonly after?: string | undefined
  readonly where?: Where<R>
}

/** The statements that all tables of an organization's objects share. */
export interface OrgTable<R> {
  readonly find: (db: AnyDatabase, orgId: string, key: string) => Promise<R | undefined>
  /** Rows in order of their key. */
  readonly list: (db: AnyDatabase, orgId: string, options?: ListOptions<R>) => Promise<R[]>
  readonly count: (db: AnyDatabase, orgId: string, where?: Where<R>) => Promise<number>
  readonly insert: (db: AnyDatabase, row: R) => Promise<void>
  /** Inserts the row, or replaces all columns of the existing one but the constant ones. */
  readonly put: (db: AnyDatabase, row: R) => Promise<void>
  /** Replaces all columns but the constant ones. */
  readonly update: (db: AnyDatabase, row: R) => Promise<void>
  /** Changes columns of a row and returns it; undefined if there is none that also fits `where`. */
  readonly change: (
    db: AnyDatabase,
    orgId: string,
    key: string,
    changes: Partial<R>,
    where?: Where<R>,
  ) => Promise<R | undefined>
  /** Deletes the row and returns it; undefined if there is none. */
  readonly remove: (db: AnyDatabase, orgId: string, key: string) => Promise<R | undefined>
}

/**
 * The shared statements of a table with the primary key (`org_id`, `keyColumn`).
 *
 * @param constant - Columns that keep their first value.
 * @example
 * export const { find: findRule, list: listRules } = orgTable<Tables, 'policy_rule'>('policy_rule', 'id')
 */
export function orgTable<Tables, Name extends keyof Tables & string>(
  table: Name,
  keyColumn: keyof Tables[Name] & string,
  constant: readonly (keyof Tables[Name] & string)[] = ['created_at', 'created_by'] as never,
): OrgTable<Tables[Name]> {
  type R = Tables[Name]
  const name = table as string as 'any'
  const key: string = keyColumn
  const fixed: ReadonlySet<string> = new Set(['org_id', key, ...constant])
  const changesOf = (row: Row): Row =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !fixed.has(column)))

  const rows = (db: AnyDatabase, orgId: string, where: object = {}) =>
    on<AnyTables>(db).selectFrom(name).where(matching(orgId, where))
  return {
    find: async (db, orgId, id) =>
      (await rows(db, orgId, { [key]: id })
        .selectAll()
        .executeTakeFirst()) as R | undefined,

    async list(db, orgId, { limit, after, where } = {}) {
      // Callers often have nothing to look for.
      if (Object.values(where ?? {}).some((value) => Array.isArray(value) && value.length === 0))
        return []
      let query = rows(db, orgId, where).selectAll().orderBy(key)
      if (after !== undefined) query = query.where(key, '>', after)
      if (limit !== undefined) query = query.limit(limit)
      return (await query.execute()) as R[]
    },

    async count(db, orgId, where) {
      const query = rows(db, orgId, where).select((row) => row.fn.countAll().as('count'))
      return Number((await query.executeTakeFirstOrThrow()).count)
    },

    async insert(db, row) {
      await on<AnyTables>(db)
        .insertInto(name)
        .values(row as Row)
        .execute()
    },

    async put(db, row) {
      await on<AnyTables>(db)
        .insertInto(name)
        .values(row as Row)
        .onConflict((conflict) =>
          conflict.columns(['org_id', key]).doUpdateSet(changesOf(row as Row)),
        )
        .execute()
    },

    async update(db, row) {
      const { org_id = null, [key]: id = null } = row as Row
      await on<AnyTables>(db)
        .updateTable(name)
        .set(changesOf(row as Row))
        .where(matching(org_id, { [key]: id }))
        .execute()
    },

    change: async (db, orgId, id, changes, where) =>
      (await on<AnyTables>(db)
        .updateTable(name)
        .set(changes as Row)
        .where(matching(orgId, { ...where, [key]: id }))
        .returningAll()
        .executeTakeFirst()) as R | undefined,

    remove: async (db, orgId, id) =>
      (await on<AnyTables>(db)
        .deleteFrom(name)
        .where(matching(orgId, { [key]: id }))
        .returningAll()
        .executeTakeFirst()) as R | undefined,
  }
}

/** An empty list matches no row. The organization comes last, so that no other one can replace it. */
const matching = (org_id: Cell, where: object) => (of: ExpressionBuilder<AnyTables, 'any'>) =>
  of.and(
    Object.entries<Cell | readonly Cell[]>({ ...where, org_id }).map(([column, value]) => {
      if (value === null) return of(column, 'is', null)
      if (!Array.isArray(value)) return of(column, '=', value)
      return value.length === 0 ? of.lit(false) : of(column, 'in', value)
    }),
  )

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
