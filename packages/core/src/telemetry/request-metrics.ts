import { SECONDS } from './metrics.ts'
import type { Metrics } from './metrics.ts'

/** Records one request by endpoint and status. */
export type ObserveRequest = (route: string, status: number, ms: number) => void

/** Metrics of requests; `inFlight` returns the number of requests in progress. */
export function requestMetrics(metrics: Metrics, inFlight: () => number): ObserveRequest {
  metrics.gauge(
    'remit_http_requests_in_flight',
    'Admitted requests that have no response yet',
    inFlight,
  )
  const observe = metrics.histogram(
    'remit_http_request_duration_seconds',
    'Time from the headers of a request to its response, by endpoint and status',
    { labels: ['route', 'status'], buckets: SECONDS },
  )
  return (route, status, ms) => observe(ms / 1000, route, String(status))
}

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
