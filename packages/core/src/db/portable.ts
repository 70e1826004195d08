import { CompiledQuery, PostgresAdapter, sql } from 'kysely'
import type { Kysely, QueryExecutorProvider, QueryResult, RawBuilder } from 'kysely'

export type Dialect = 'sqlite' | 'postgres'

/** A handle or transaction whose tables do not matter. */
export interface AnyDatabase extends QueryExecutorProvider {
  executeQuery<R>(query: CompiledQuery<R>): Promise<QueryResult<R>>
}

/** Which database a handle or transaction speaks to. */
export const dialectOf = (db: AnyDatabase): Dialect =>
  db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'

/**
 * What `create table` says differently: text in byte order, 64-bit whole numbers, and the ending that
 * keeps small rows inside their primary key.
 */
export const column = (db: AnyDatabase) =>
  dialectOf(db) === 'postgres'
    ? { text: sql`text collate "C"`, integer: sql`bigint`, clustered: sql`` }
    : { text: sql`text`, integer: sql`integer`, clustered: sql`without rowid` }

/** `for update` on PostgreSQL; SQLite's transactions hold the one write lock already. */
export const forUpdate = (db: AnyDatabase): RawBuilder<unknown> =>
  dialectOf(db) === 'postgres' ? sql`for update` : sql``

export type ColumnTypes = Readonly<Record<string, 'text' | 'bigint'>>
type Cell = string | number | null

/**
 * Inserts many rows with one short statement text: PostgreSQL gets one JSON parameter, SQLite gets
 * chunks of 1, 2, 4 … 64 rows whose statements stay prepared. `suffix` may hold an `on conflict`.
 */
export async function bulkInsert(
  db: AnyDatabase,
  table: string,
  columns: ColumnTypes,
  rows: readonly Readonly<Record<string, Cell>>[],
  suffix = '',
): Promise<void> {
  if (rows.length === 0) return
  const names = Object.keys(columns)
  if (dialectOf(db) === 'postgres') {
    const shape = names.map((name) => `${name} ${columns[name]}`).join(', ')
    const text = `insert into ${table} (${names.join(', ')}) select ${names.join(', ')} from json_to_recordset($1) as row(${shape}) ${suffix}`
    await db.executeQuery(CompiledQuery.raw(text, [JSON.stringify(rows)]))
    return
  }
  for (let start = 0; start < rows.length;) {
    const size = Math.min(64, 2 ** Math.floor(Math.log2(rows.length - start)))
    const chunk = rows.slice(start, start + size)
    const cells: Cell[] = []
    for (const row of chunk) for (const name of names) cells.push(row[name] ?? null)
    await db.executeQuery(CompiledQuery.raw(valuesText(table, names, size, suffix), cells))
    start += size
  }
}

const texts = new Map<string, string>()

function valuesText(table: string, names: readonly string[], size: number, suffix: string): string {
  const key = `${table} ${size} ${suffix}`
  let text = texts.get(key)
  if (text === undefined) {
    const row = `(${names.map(() => '?').join(', ')})`
    text = `insert into ${table} (${names.join(', ')}) values ${Array(size).fill(row).join(', ')} ${suffix}`
    texts.set(key, text)
  }
  return text
}

/** `tx` typed for other tables: modules add theirs to one database. */
export const on = <Tables>(db: AnyDatabase): Kysely<Tables> => db as unknown as Kysely<Tables>
