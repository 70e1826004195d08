import type { DecisionFacts } from '../decision.ts'
import type { SpendLimitState } from '../state/spend-limits.ts'

/** What an allow lets an agent spend, micro-USD; 0 where it names no amount. */
export const amountOf = ({ spend, heldMicro }: DecisionFacts): number =>
  Math.max(spend?.amountMicro ?? 0, heldMicro)

/** Whether a limit caps anything. */
export const hasCap = (limit: SpendLimitState | undefined): limit is SpendLimitState =>
  limit !== undefined && (limit.dailyMicro !== null || limit.monthlyMicro !== null)
