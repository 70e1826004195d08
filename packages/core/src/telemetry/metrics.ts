import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { Metric } from 'prom-client'

/** The value of a gauge; null leaves the series out. */
export type GaugeValue = number | null

export interface HistogramOptions {
  readonly labels?: readonly string[]
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
}

/** A metric with the values of its series, named as in the Prometheus text format. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly values: readonly {
    /** Of histograms: the name with `_bucket`, `_sum` or `_count`. */
    readonly metricName?: string
    readonly labels: Readonly<Record<string, string | number>>
    readonly value: number
  }[]
}

/** The metrics of the process, in the Prometheus text format. */
export interface Metrics {
  /** Returns a function that counts one event of these label values. */
  counter(name: string, help: string, labels: readonly string[]): Count
  /** Returns a function that records a value for these label values. */
  histogram(name: string, help: string, options: HistogramOptions): Observe
  /** `read` is called when the metrics are read; an error leaves the series out. */
  gauge(name: string, help: string, read: () => GaugeValue | Promise<GaugeValue>): void
  text(): Promise<string>
  /** The same, for other formats. */
  families(): Promise<readonly MetricFamily[]>
  readonly contentType: string
}

export type Count = (...labels: readonly string[]) => void
export type Observe = (value: number, ...labels: readonly string[]) => void

/** Buckets for durations of requests and their parts, in seconds. */
export const SECONDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30,
]

/** Gauges of the library whose names end like those of counters, which Prometheus advises against. */
const MISNAMED = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
]

let processRegistry: Registry | undefined

/**
 * The metrics of the process itself, the same for all servers in it. The library measures the event
 * loop and collections of garbage for every registry that collects them, and never stops.
 */
function processMetrics(): readonly Metric[] {
  if (!processRegistry) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
    for (const name of MISNAMED) processRegistry.removeSingleMetric(name)
  }
  return processRegistry.getMetricsAsArray() as unknown as Metric[]
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  for (const metric of processMetrics()) registry.registerMetric(metric)
  const registers = [registry]
  return {
    counter(name, help, labelNames) {
      const counter = new Counter({ name, help, labelNames, registers, collect: () => flush() })
      const counts = new Map<string, { readonly labels: readonly string[]; n: number }>()
      // Added up here and given to the library when it is read: a count there costs much more.
      const flush = () => {
        for (const one of counts.values()) {
          if (one.n > 0) counter.labels(...one.labels).inc(one.n)
          one.n = 0
        }
      }
      return (...labels) => {
        const key = labels.join('\n')
        const known = counts.get(key)
        if (known) known.n++
        else counts.set(key, { labels, n: 1 })
      }
    },
    histogram: (name, help, options) => addHistogram(registry, name, help, options),
    gauge(name, help, read) {
      const gauge: Gauge = new Gauge({
        name,
        help,
        registers,
        async collect() {
          const value = await Promise.resolve()
            .then(read)
            .catch(() => null)
          if (value === null) gauge.remove()
          else gauge.set(value)
        },
      })
    },
    text: () => registry.metrics(),
    // The library's type has numbers for the types, and no names of series.
    families: async () => (await registry.getMetricsAsJSON()) as unknown as MetricFamily[],
    contentType: registry.contentType,
  }
}

interface Series {
  readonly labels: Readonly<Record<string, string>>
  /** Values per bucket, the last one for values above all bounds. */
  readonly counts: Float64Array
  sum: number
}

/**
 * Adds a histogram to a registry. Counts the values itself, because the library looks its labels up
 * for every value, which costs more than the rest of an observation many times over.
 */
function addHistogram(
  registry: Registry,
  name: string,
  help: string,
  { labels: labelNames = [], buckets }: HistogramOptions,
): Observe {
  const series = new Map<string, Series>()
  const seriesOf = (values: readonly string[]): Series => {
    const key =
      values.length === 0 ? '' : values.length === 1 ? (values[0] ?? '') : values.join('\n')
    let found = series.get(key)
    if (!found) {
      const labels = Object.fromEntries(labelNames.map((label, i) => [label, values[i] ?? '']))
      found = { labels, counts: new Float64Array(buckets.length + 1), sum: 0 }
      series.set(key, found)
    }
    return found
  }
  if (labelNames.length === 0) seriesOf([])
  const metric = {
    name,
    get: () =>
      Promise.resolve({
        name,
        help,
        type: 'histogram',
        aggregator: 'sum',
        values: [...series.values()].flatMap((one) => valuesOf(name, buckets, one)),
      }),
  }
  // The registry reads only these two members.
  registry.registerMetric(metric as unknown as Metric)
  return (value, ...labels) => {
    const found = seriesOf(labels)
    let i = 0
    while (i < buckets.length && value > (buckets[i] ?? 0)) i++
    found.counts[i] = (found.counts[i] ?? 0) + 1
    found.sum += value
  }
}

/** The lines of one series: cumulative buckets, sum and count. */
function valuesOf(name: string, buckets: readonly number[], { labels, counts, sum }: Series) {
  let count = 0
  const lines = [...buckets, '+Inf'].map((le, i) => {
    count += counts[i] ?? 0
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
  })
  return [
    ...lines,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}

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

/** Records a decision, the time until it was durable in milliseconds, and what observed rules would have done. */
export type ObserveDecision = (
  decision: string,
  reason: string,
  ms: number,
  /** The decisions of matching observed rules; absent without any. */
  would?: readonly string[],
) => void

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
  const countObserved = metrics.counter(
    'remit_observed_rules_total',
    'Matches of rules in the mode observe, by what they would have decided',
    ['would'],
  )
  return (decision, reason, ms, would = []) => {
    count(decision, reason)
    duration(ms / 1000)
    for (const one of would) countObserved(one)
  }
}
