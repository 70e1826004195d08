import { z } from 'zod'
import { defineScorer } from '../scorer.ts'
import type { ScoreOutcome } from '../scorer.ts'

const Amount = z.number().min(0)

const Latency = z
  .strictObject({
    max_ms: Amount,
    target_ms: Amount.optional().describe(
      'Latencies up to this value score 1; above it, the score falls to 0 at max_ms',
    ),
  })
  .refine(({ max_ms, target_ms = -1 }) => target_ms < max_ms, {
    path: ['target_ms'],
    message: 'must be below max_ms',
  })

const Cost = z
  .strictObject({
    max_usd: Amount,
    target_usd: Amount.optional().describe(
      'Costs up to this value score 1; above it, the score falls to 0 at max_usd',
    ),
  })
  .refine(({ max_usd, target_usd = -1 }) => target_usd < max_usd, {
    path: ['target_usd'],
    message: 'must be below max_usd',
  })

/** 1 if the latency is within the limit. */
export const latency = defineScorer({
  name: 'latency',
  version: '1',
  description: 'latency_ms is at most max_ms; with target_ms, graded between both',
  edition: 'community',
  defaultThreshold: 1,
  params: Latency,
  fields: { latency_ms: 'required' },
  inlineLength: 65_536,
  score: ({ latency_ms }, { max_ms, target_ms }) =>
    within(latency_ms ?? 0, max_ms, target_ms, 'ms'),
})

/** 1 if the cost is within the limit. */
export const cost = defineScorer({
  name: 'cost',
  version: '1',
  description: 'cost_usd is at most max_usd; with target_usd, graded between both',
  edition: 'community',
  defaultThreshold: 1,
  params: Cost,
  fields: { cost_usd: 'required' },
  inlineLength: 65_536,
  score: ({ cost_usd }, { max_usd, target_usd }) =>
    within(cost_usd ?? 0, max_usd, target_usd, 'USD'),
})

function within(
  value: number,
  max: number,
  target: number | undefined,
  unit: string,
): ScoreOutcome {
  if (target !== undefined && value > target) {
    const score = Math.max(0, (max - value) / (max - target))
    return { score, reason: `${value} ${unit} is above the target of ${target} ${unit}` }
  }
  const fits = value <= max
  return {
    score: fits ? 1 : 0,
    reason: `${value} ${unit} is ${fits ? 'at most' : 'above'} ${target ?? max} ${unit}`,
  }
}
