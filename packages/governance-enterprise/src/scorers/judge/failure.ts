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

/** Facts about a failed exchange with the judge's server. */
interface FailedExchange {
  /** The status of the response. */
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
