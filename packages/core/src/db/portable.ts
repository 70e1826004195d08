import { CompiledQuery, PostgresAdapter, sql } from 'kysely'
import type { Kysely, QueryExecutorProvider, QueryResult } from 'kysely'

export type Dialect = 'sqlite' | 'postgres'

/** A handle or transaction whose tables do not matter. */
export interface AnyDatabase extends QueryExecutorProvider {
  executeQuery<R>(query: CompiledQuery<R>): Promise<QueryResult<R>>
}

/** Returns the dialect of a handle or transaction. */
export const dialectOf = (db: AnyDatabase): Dialect =>
  db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'

/**
 * Column types that differ between the dialects: text in byte order, 64-bit integers, and the
 * clause that stores small rows inside their primary key.
 */
export const column = (db: AnyDatabase) =>
  dialectOf(db) === 'postgres'
    ? { text: sql`text collate "C"`, integer: sql`bigint`, clustered: sql`` }
    : { text: sql`text`, integer: sql`integer`, clustered: sql`without rowid` }

export type Cell = string | number | null

/**
 * A statement with a constant text, for frequent queries: building one costs several times its
 * execution. `?` is a parameter.
 */
export function statement<Row>(
  text: string,
): (db: AnyDatabase, parameters: readonly Cell[]) => Promise<readonly Row[]> {
  let count = 0
  const numbered = text.replaceAll('?', () => `$${++count}`)
  return async (db, parameters) => {
    const own = dialectOf(db) === 'postgres' ? numbered : text
    return (await db.executeQuery<Row>(CompiledQuery.raw(own, [...parameters]))).rows
  }
}

/** Returns `tx`, typed for the tables of a module. */
export const on = <Tables>(db: AnyDatabase): Kysely<Tables> => db as unknown as Kysely<Tables>
