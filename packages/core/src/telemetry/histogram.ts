import type { Metric, Registry } from 'prom-client'

export interface HistogramOptions {
  readonly labels?: readonly string[]
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
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
export function addHistogram(
  registry: Registry,
  name: string,
  help: string,
  { labels: labelNames = [], buckets }: HistogramOptions,
): (value: number, ...labels: readonly string[]) => void {
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
