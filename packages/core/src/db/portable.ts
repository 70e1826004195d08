import { CompiledQuery, PostgresAdapter, sql } from 'kysely'
import type { Kysely, QueryExecutorProvider, QueryResult, RawBuilder } from 'kysely'
import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'
import { isStale } from './frequent-statements.ts'

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

// SQLSTATE classes and codes of temporary failures: connection, resources, operator, locks,
// read-only, timeouts.
const PASSING = /^(08|53|57P|57014|55P03|25006|25P0[34])/
const BROKEN =
  /ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|Connection terminated|connection timeout|Query read timeout|timeout exceeded|not queryable|Client has encountered|discarded|SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN)/i

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

/**
 * Returns true if PostgreSQL rolled a transaction back in favor of another one (serialization
 * failure, deadlock) or of a migration; a retry may succeed.
 */
export const isConflict = (error: unknown): boolean =>
  /^(40001|40P01)$/.test(codeOf(error)) || isStale(error)

/** Returns true if the database failed: an SQLSTATE, a SQLite code, or a lost connection. */
export const isDatabaseError = (error: unknown): boolean =>
  isUnavailable(error) || /^([0-9A-Z]{5}|SQLITE_\w+)$/.test(codeOf(error))

/** Returns true if an error means that the database is unavailable or full, or asks to try again. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (isConflict(error)) return true
  const code = codeOf(error)
  if (PASSING.test(code) || BROKEN.test(code) || BROKEN.test(error.message)) return true
  return error instanceof AggregateError && error.errors.some(isUnavailable)
}

/** Returns the 503 for such an error. */
export const unavailable = (
  code: 'ledger_unavailable' | 'database_unavailable' | 'outcome_unknown' | 'overloaded',
): Failure => fail(code, undefined, { headers: { 'Retry-After': '1' } })
