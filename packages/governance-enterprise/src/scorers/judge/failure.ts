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
export type JudgeFailureCode = (typeof JUDGE_FAILURES)[number]

interface Exchange {
  /** A later attempt may succeed. */
  readonly isPassing?: boolean
  /** The delay that the server requests before another attempt. */
  readonly retryAfterMs?: number | null
  /** The status of the response; null without one. */
  readonly status?: number | null
  /** The server has received nothing, so nothing is charged. */
  readonly isUnsent?: boolean
}

/** A failure of the judge, not of the judged output: the result gets no score. */
export class JudgeFailure extends Error {
  readonly code: JudgeFailureCode
  readonly exchange: Exchange

  /** `reason` is a plain clause of ours, without text from the other side. */
  constructor(code: JudgeFailureCode, reason: string, exchange: Exchange = {}) {
    super(reason)
    this.name = 'JudgeFailure'
    this.code = code
    this.exchange = exchange
  }
}

/** The failure of an exchange with a status other than 200. */
export function failureOf(status: number, retryAfterMs: number | null): JudgeFailure {
  const exchange = { status, retryAfterMs, isPassing: isPassing(status) }
  if (status === 401 || status === 403) {
    const reason = "the judge's server rejected the operator's key"
    return new JudgeFailure('judge_unauthorized', reason, exchange)
  }
  const code = { 408: 'judge_timeout', 429: 'judge_rate_limited' } as const
  return new JudgeFailure(
    status === 408 || status === 429 ? code[status] : 'judge_unavailable',
    `the judge's server answered with status ${status}`,
    exchange,
  )
}

/** Returns whether the same request may succeed after a status. */
export const isPassing = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500

const BASE_MS = 500
const CAP_MS = 8_000
const MOST_ASKED_MS = 30_000

/**
 * Milliseconds to wait before retry number `retry` (from 0); null to give up: the server requests
 * more than 30 s, or the wait exceeds the deadline. Without a requested delay, a random part of an
 * exponential backoff; `random` is in [0, 1).
 */
export function pauseBefore(
  retry: number,
  retryAfterMs: number | null,
  leftMs: number,
  random: number,
): number | null {
  if (retryAfterMs !== null && retryAfterMs > MOST_ASKED_MS) return null
  const pause = retryAfterMs ?? Math.min(CAP_MS, BASE_MS * 2 ** retry) * random
  return pause >= leftMs ? null : pause
}
