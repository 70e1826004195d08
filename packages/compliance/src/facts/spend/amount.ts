import type { DecisionFacts } from '../decision.ts'
import type { SpendLimitState } from '../state/spend-limits.ts'

/** The spend of an allow, in micro-USD; 0 without an amount. */
export const amountOf = ({ spend, heldMicro }: DecisionFacts): number =>
  Math.max(spend?.amountMicro ?? 0, heldMicro)

/** Returns whether a limit has a cap. */
export const hasCap = (limit: SpendLimitState | undefined): limit is SpendLimitState =>
  limit !== undefined && (limit.dailyMicro !== null || limit.monthlyMicro !== null)
