import { AnswerTooLarge, boundedText } from '@remit/core/net'
import type { ProviderRequest } from './providers.ts'

const MAX_BYTES = 1024 * 1024
const TOO_LARGE = 'the response of the judge is larger than 1 MiB'

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
    if (response.status !== 200) throw refusal(response)
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    if (error instanceof JudgeFailure) throw error
    if (error instanceof AnswerTooLarge) throw new JudgeFailure('judge_invalid_output', TOO_LARGE)
    signal.throwIfAborted()
    // The rest of the error is dropped: its message may quote the request.
    if (timeout.aborted)
      throw new JudgeFailure('judge_timeout', 'the judge timed out', { isPassing: true })
    const { cause } = error as { readonly cause?: { readonly code?: unknown } }
    const isFree = UNREACHABLE.test(String(cause?.code))
    const reason = isFree ? 'the judge cannot be reached' : 'the connection to the judge was lost'
    throw new JudgeFailure('judge_unavailable', reason, { isPassing: true, isFree })
  }
}

const UNREACHABLE =
  /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/

const CODES: Readonly<Record<number, JudgeFailureCode>> = {
  401: 'judge_unauthorized',
  403: 'judge_unauthorized',
  408: 'judge_timeout',
  429: 'judge_rate_limited',
}

/** The failure of an exchange with a status other than 200. */
function refusal({ status, headers }: Response): JudgeFailure {
  const code = CODES[status] ?? 'judge_unavailable'
  const reason =
    code === 'judge_unauthorized'
      ? "the judge's server rejected the operator's key"
      : `the judge's server answered with status ${status}`
  const [retryAfterMs, isPassing] = [retryAfter(headers), isTransient(status)]
  return new JudgeFailure(code, reason, { status, retryAfterMs, isPassing, isFree: true })
}

/** Returns whether the same request may succeed after a status. */
export const isTransient = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500

/** Milliseconds of `retry-after-ms`, or of `Retry-After`: seconds or a date (RFC 9110 §10.2.3). */
function retryAfter(headers: Headers): number | null {
  const after = headers.get('retry-after') ?? ''
  const untilDate = Math.max(0, Date.parse(after) - Date.now())
  const delays = [decimal(headers.get('retry-after-ms') ?? ''), decimal(after) * 1000, untilDate]
  return delays.find((ms) => !Number.isNaN(ms)) ?? null
}

const decimal = (text: string): number => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN)

/** The reason of a failed judgment; stable, for programs. `docs/judge.md` explains each. */
export const JUDGE_FAILURES = [
  'judge_timeout',
  'judge_unavailable',
  'judge_rate_limited',
  'judge_refused',
  'judge_truncated',
  'judge_invalid_output',
  'judge_budget_exceeded',
  'judge_daily_calls_exceeded',
  'judge_daily_cost_exceeded',
  'judge_unauthorized',
] as const
type JudgeFailureCode = (typeof JUDGE_FAILURES)[number]

/** Facts about a failed exchange with the judge's server. */
interface FailedExchange {
  readonly status?: number
  /** A later attempt may succeed. */
  readonly isPassing?: boolean
  /** The delay that the server requests before another attempt. */
  readonly retryAfterMs?: number | null
  /** The server charges nothing: it refused the request, or never received it. */
  readonly isFree?: boolean
}

/** A failure of the judge, not of the judged output: the result gets no score. */
export class JudgeFailure extends Error {
  readonly code: JudgeFailureCode
  readonly exchange: FailedExchange

  /** `reason` is a plain clause of ours, without text from the other side. */
  constructor(code: JudgeFailureCode, reason: string, exchange: FailedExchange = {}) {
    super(reason)
    this.name = 'JudgeFailure'
    this.code = code
    this.exchange = exchange
  }
}
