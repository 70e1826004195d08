import { ValueType } from '@opentelemetry/api'
import type { HrTime } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import type { DataPoint, Histogram, MetricData } from '@opentelemetry/sdk-metrics'
import type { MetricFamily, Metrics } from '@remit/core/telemetry'
import type { MetricsSettings } from '../settings/telemetry.ts'
import { VERSION } from '../settings/version.ts'
import { resourceOf } from './otlp-resource.ts'

const EXPORT_MS = 30_000

/**
 * Sends the metrics of the process over OTLP, with the names that Prometheus reads. Imported only
 * where it is configured. The last values are sent by `close`.
 */
export function sendMetrics(
  { everyMs, serviceName }: MetricsSettings,
  metrics: Pick<Metrics, 'families'>,
): { close(): Promise<void> } {
  const resource = resourceOf(serviceName)
  const startTime = timeOf(performance.timeOrigin)
  const collect = async () => {
    const times = { startTime, endTime: timeOf(Date.now()) }
    const found = (await metrics.families()).flatMap((family) => dataOf(family, times))
    const scope = { name: 'remit', version: VERSION }
    return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics: found }] }, errors: [] }
  }
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(everyMs, EXPORT_MS),
    metricProducers: [{ collect }],
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  // A collector that is gone must not fail the stop of the server.
  return { close: () => provider.shutdown().catch(() => undefined) }
}

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

/** A metric as OTLP has it; none for a summary, whose quantiles OTLP keeps for old clients only. */
function dataOf(family: MetricFamily, times: Times): MetricData[] {
  const { name, help: description, type, values } = family
  if (values.length === 0 || type === 'summary') return []
  const common = {
    descriptor: { name, description, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (type === 'histogram')
    return [
      {
        ...common,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: histogramsOf(family, times),
      },
    ]
  const dataPoints = values.map(({ labels: attributes, value }) => ({
    ...times,
    attributes,
    value,
  }))
  return type === 'counter'
    ? [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
    : [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }]
}

/** One point for each series; the buckets of Prometheus include the smaller ones. */
function histogramsOf({ name, values }: MetricFamily, times: Times): DataPoint<Histogram>[] {
  const series = Map.groupBy(values, ({ labels }) =>
    JSON.stringify(Object.fromEntries(Object.entries(labels).filter(([label]) => label !== 'le'))),
  )
  return [...series].map(([key, lines]) => {
    const one = (suffix: string) =>
      lines.find(({ metricName }) => metricName === name + suffix)?.value ?? 0
    const buckets = lines.filter(({ metricName }) => metricName === `${name}_bucket`)
    return {
      ...times,
      attributes: JSON.parse(key) as Record<string, string>,
      value: {
        count: one('_count'),
        sum: one('_sum'),
        buckets: {
          boundaries: buckets.map(({ labels }) => Number(labels['le'])).filter(Number.isFinite),
          counts: buckets.map(({ value }, i) => value - (buckets[i - 1]?.value ?? 0)),
        },
      },
    }
  })
}
