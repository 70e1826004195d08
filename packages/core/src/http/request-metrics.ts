import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** The metrics of the server, in the Prometheus text format. */
export interface HttpMetrics {
  observe(route: string, status: number, ms: number): void
  text(): Promise<string>
  readonly contentType: string
}

/** `inFlight` returns the number of requests in progress. */
export function createMetrics(inFlight: () => number): HttpMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Gauge({
    name: 'remit_http_requests_in_flight',
    help: 'Admitted requests that have no response yet',
    registers: [],
    collect() {
      this.set(inFlight())
    },
  })
  registry.registerMetric(requests)
  const duration = new Histogram({
    name: 'remit_http_request_duration_seconds',
    help: 'Time from the headers of a request to its response, by endpoint and status',
    labelNames: ['route', 'status'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers: [registry],
  })
  // Bound once per pair: looking labels up costs more than counting.
  const bound = new Map<string, (seconds: number) => void>()
  return {
    observe(route, status, ms) {
      const key = `${route} ${status}`
      let count = bound.get(key)
      if (!count) {
        const timer = duration.labels(route, String(status))
        bound.set(key, (count = (seconds) => timer.observe(seconds)))
      }
      count(ms / 1000)
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
