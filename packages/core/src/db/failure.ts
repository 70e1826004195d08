import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'
import { isStale } from './frequent-statements.ts'

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
