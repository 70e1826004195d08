import { SECONDS } from '../telemetry/metrics.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Records a decision and the time until it was durable, in milliseconds. */
export type ObserveDecision = (decision: string, reason: string, ms: number) => void

export function decisionMetrics(metrics: Metrics): ObserveDecision {
  const count = metrics.counter('remit_decisions_total', 'Recorded decisions by outcome', [
    'decision',
    'reason',
  ])
  const duration = metrics.histogram(
    'remit_decision_seconds',
    'Time from a validated request to its durable decision',
    { buckets: SECONDS },
  )
  return (decision, reason, ms) => {
    count(decision, reason)
    duration(ms / 1000)
  }
}
