import { AnswerTooLarge, boundedText } from '@remit/core'
import { failureOf, JudgeFailure } from './failure.ts'
import type { ProviderRequest } from './providers.ts'

const MAX_BYTES = 1024 * 1024

/**
 * Sends one request to a judge's server and returns the JSON of the response; undefined if it is not
 * JSON. Redirects are not followed, and at most 1 MiB is read. Throws `JudgeFailure`, or the reason of
 * `signal` if it aborts first.
 */
export async function post(
  { url, headers, body }: ProviderRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    })
    const text = await boundedText(response, MAX_BYTES)
    if (response.status !== 200) throw failureOf(response.status, retryAfter(response.headers))
    return json(text)
  } catch (error) {
    if (error instanceof JudgeFailure) throw error
    if (error instanceof AnswerTooLarge)
      throw new JudgeFailure(
        'judge_invalid_output',
        'the response of the judge is larger than 1 MiB',
      )
    signal.throwIfAborted()
    // The rest of the error is dropped: its message may quote the request.
    if (timeout.aborted)
      throw new JudgeFailure('judge_timeout', 'the judge timed out', { isPassing: true })
    const isUnsent = UNREACHABLE.has(causeOf(error))
    throw new JudgeFailure(
      'judge_unavailable',
      isUnsent ? 'the judge cannot be reached' : 'the connection to the judge was lost',
      { isPassing: true, isUnsent },
    )
  }
}

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])

const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error && 'code' in error.cause
    ? error.cause.code
    : undefined

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110 §10.2.3). */
function retryAfter(headers: Headers): number | null {
  const exact = number(headers.get('retry-after-ms'))
  if (exact !== null) return exact
  const text = headers.get('retry-after')
  const seconds = number(text)
  if (seconds !== null) return seconds * 1000
  const until = Date.parse(text ?? '')
  return Number.isNaN(until) ? null : Math.max(0, until - Date.now())
}

const number = (text: string | null): number | null =>
  text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null
