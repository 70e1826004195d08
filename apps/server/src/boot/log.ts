import { destination, pino, stdTimeFunctions } from 'pino'
import type { Logger } from 'pino'

/** Standard error, so that standard output carries the banner or a command's result and nothing else. */
const STDERR = 2

/** The server's log: one JSON object a line. */
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
 * What of an error is logged. Only these members: drivers hang connections on their errors, and with
 * them the address and password of the database.
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
