import { RemitError } from './error.ts'
import { pause } from './time-limit.ts'

const FIRST_MS = 200
const LONGEST_MS = 5_000
/** A server that asks for more is not waited for. */
const LONGEST_ASKED_MS = 60_000

/** Milliseconds before the next attempt: what the server asks for, else exponential with full jitter. */
export const delayAfter = (attempt: number, error: RemitError): number =>
  error.retryAfterMs ?? Math.random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt)

/** Returns whether the same request may succeed later. `repeatable`: carrying it out twice does no harm. */
export function canRetry(error: RemitError, repeatable: boolean): boolean {
  if ((error.retryAfterMs ?? 0) > LONGEST_ASKED_MS) return false
  // Refused before anything was done.
  if (error.status === 429) return true
  return repeatable && (isTransient(error.status) || error.code === 'idempotency_in_progress')
}

/** No answer, an answer that broke off, or one that a later attempt may better. */
const isTransient = (status: number): boolean =>
  status === 0 || status === 408 || status >= 500 || (status >= 200 && status < 300)

/** Calls `attempt` again after transient failures, up to `retries` times. */
export async function withRetries<T>(
  options: {
    readonly retries: number
    readonly repeatable: boolean
    readonly signal?: AbortSignal
  },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let failed = 0; ; failed++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof RemitError) || failed >= options.retries) throw error
      if (!canRetry(error, options.repeatable)) throw error
      await pause(delayAfter(failed, error), options.signal)
    }
  }
}
