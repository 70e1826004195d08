import { destination, pino, stdTimeFunctions } from 'pino'
import type { Logger } from 'pino'

/** Standard error, so that standard output contains only the banner or the result of a command. */
const STDERR = 2

/** Creates the log: one JSON object per line. */
export const createLog = (level: string): Logger =>
  pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime, serializers: { err: describeError } },
    destination({ fd: STDERR, sync: true }),
  )

interface LoggedError {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: LoggedError
}

/**
 * Selects the logged members of an error. Only these: drivers attach connections to their errors,
 * with the address and password of the database.
 */
function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { code } = error as { code?: unknown }
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    ...(error.stack !== undefined && { stack: error.stack }),
    ...(error.cause !== undefined && depth < 5 && { cause: describeError(error.cause, depth + 1) }),
  }
}
