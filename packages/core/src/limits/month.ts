import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'
import type { Allowance } from './allowances.ts'

/** Returns how many of the next decisions the monthly limit admits. */
export function admittedDecisions(
  { perMonth, atMonthlyLimit }: Allowance,
  decided: number,
): number {
  if (perMonth === null || atMonthlyLimit === 'overage') return Infinity
  return Math.max(0, perMonth - decided)
}

/** Returns the refusal of a decision beyond the monthly limit; `now` in milliseconds. */
export function quotaExceeded({ perMonth }: Allowance, now: number): Failure {
  const at = new Date(now)
  const next = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
  return fail(
    'quota_exceeded',
    `The organization may request at most ${perMonth} decisions per month`,
    { headers: { 'Retry-After': String(Math.max(1, Math.ceil((next - now) / 1000))) } },
  )
}
