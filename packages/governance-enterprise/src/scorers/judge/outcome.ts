import { JudgeFailure } from './failure.ts'
import type { JudgeFailureCode } from './failure.ts'
import { PostFailure } from './post.ts'
import type { HttpAnswer, PostFailureCode } from './post.ts'
import { isPassing } from './retry.ts'

/** The meaning of an exchange without a usable answer. */
export interface ExchangeFailure {
  readonly failure: JudgeFailure
  /** A later attempt may succeed. */
  readonly isPassing: boolean
  readonly retryAfterMs: number | null
}

const OF_POST: Readonly<
  Record<PostFailureCode, readonly [JudgeFailureCode, reason: string, isPassing: boolean]>
> = {
  timeout: ['judge_timeout', 'the judge timed out', true],
  unreachable: ['judge_unavailable', 'the judge cannot be reached', true],
  broken: ['judge_unavailable', 'the connection to the judge was lost', true],
  too_large: ['judge_invalid_output', 'the response of the judge is larger than 1 MiB', false],
}

export function failureOf(answer: HttpAnswer | PostFailure): ExchangeFailure {
  if (answer instanceof PostFailure) {
    const [code, reason, passing] = OF_POST[answer.code]
    return { failure: new JudgeFailure(code, reason), isPassing: passing, retryAfterMs: null }
  }
  const { status, retryAfterMs } = answer
  const failure = new JudgeFailure(codeOf(status), reasonOf(status))
  return { failure, isPassing: isPassing(status), retryAfterMs }
}

function codeOf(status: number): JudgeFailureCode {
  if (status === 401 || status === 403) return 'judge_unauthorized'
  if (status === 429) return 'judge_rate_limited'
  return status === 408 ? 'judge_timeout' : 'judge_unavailable'
}

const reasonOf = (status: number): string =>
  status === 401 || status === 403
    ? "the judge's server rejected the operator's key"
    : `the judge's server answered with status ${status}`

/** Many servers lack some JSON modes of the protocol, and report it with these statuses. */
export const needsOtherForm = (answer: HttpAnswer | PostFailure): boolean =>
  !(answer instanceof PostFailure) && (answer.status === 400 || answer.status === 422)
