import { fail } from '../errors.ts'
import type { Failure } from '../errors.ts'

// SQLSTATE classes and codes that say "not now": connection, resources, operator, locks, read-only, timeouts.
const PASSING = /^(08|53|57P|57014|55P03|40001|40P01|25006|25P0[34])/
const BROKEN =
  /ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|Connection terminated|connection timeout|Query read timeout|timeout exceeded|not queryable|Client has encountered|discarded|SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN)/i

/** Whether an error says that the database cannot be reached or has no room now. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code: given } = error as { code?: unknown }
  const code = typeof given === 'string' ? given : ''
  if (PASSING.test(code) || BROKEN.test(code) || BROKEN.test(error.message)) return true
  return error instanceof AggregateError && error.errors.some(isUnavailable)
}

/** The 503 to answer for such an error. */
export const unavailable = (
  code: 'ledger_unavailable' | 'database_unavailable' | 'outcome_unknown' | 'overloaded',
): Failure => fail(code, undefined, { headers: { 'Retry-After': '1' } })
