import { AnswerTooLarge, boundedText } from '@remit/core'
import type { WireRequest } from './wire.ts'

/** The reason of an incomplete response. After `unreachable`, the server has received nothing. */
export type PostFailureCode = 'timeout' | 'unreachable' | 'broken' | 'too_large'

export class PostFailure extends Error {
  readonly code: PostFailureCode
  constructor(code: PostFailureCode) {
    super(code)
    this.name = 'PostFailure'
    this.code = code
  }
}

export interface HttpAnswer {
  readonly status: number
  /** The delay that the server requests before another attempt. */
  readonly retryAfterMs: number | null
  /** Parsed JSON; undefined if the body is not JSON. */
  readonly body: unknown
}

const MAX_BYTES = 1024 * 1024

/**
 * Sends one request to a judge's server and reads the response of any status. Redirects are not
 * followed, and at most 1 MiB is read. Throws `PostFailure`, or the reason of `signal` if it aborts
 * first.
 */
export async function post(
  { url, headers, body }: WireRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  signal.throwIfAborted()
  const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: ending,
    })
    const text = await boundedText(response, MAX_BYTES)
    return { status: response.status, retryAfterMs: retryAfter(response.headers), body: json(text) }
  } catch (error) {
    if (error instanceof AnswerTooLarge) throw new PostFailure('too_large')
    signal.throwIfAborted()
    // The rest of the error is dropped: its message may quote the request.
    if (ending.aborted) throw new PostFailure('timeout')
    throw new PostFailure(UNREACHABLE.has(causeOf(error)) ? 'unreachable' : 'broken')
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
  const until = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(until) ? null : Math.max(0, until - Date.now())
}

const number = (text: string | null): number | null =>
  text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null
