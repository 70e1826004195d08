import { SECONDS } from '../telemetry/metrics.ts'
import type { Metrics } from '../telemetry/metrics.ts'

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
