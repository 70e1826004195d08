import { CompiledQuery, PostgresAdapter, sql } from 'kysely'
import type { Kysely, QueryExecutorProvider, QueryResult, RawBuilder } from 'kysely'

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

/**
 * Returns the SQL condition for a pattern in which `*` is any run of characters and everything else
 * is literal and case-sensitive. SQLite's LIKE ignores case, so it gets GLOB.
 */
export function likePattern(db: AnyDatabase, pattern: string): RawBuilder<boolean> {
  if (dialectOf(db) === 'sqlite')
    return sql`glob ${pattern.replace(/[?[]/g, (special) => `[${special}]`)}`
  return sql`like ${pattern.replace(/[\\%_]/g, (special) => `\\${special}`).replaceAll('*', '%')}`
}

/**
 * A PostgreSQL expression that is never null. From its evaluation until the end of the transaction
 * or session, commits are durable and waits are limited. Only `remote_apply` is stricter than
 * `on`, and is kept.
 */
export function transactionSettings(until: 'transaction' | 'session'): string {
  const isLocal = until === 'transaction'
  const set = (name: string, value: string) => `set_config('${name}', ${value}, ${isLocal})`
  return [
    set(
      'synchronous_commit',
      `case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end`,
    ),
    set('lock_timeout', "'4s'"),
    set('statement_timeout', "'9s'"),
    set('idle_in_transaction_session_timeout', "'10s'"),
  ].join(' || ')
}

const SETTINGS = `select ${transactionSettings('transaction')}`

/**
 * Makes the commit of this transaction durable, regardless of the session: a pooler in transaction
 * mode gives every transaction another session. `lockHead` does it too.
 */
export async function makeDurable(tx: AnyDatabase): Promise<void> {
  if (dialectOf(tx) === 'postgres') await tx.executeQuery(CompiledQuery.raw(SETTINGS))
}
