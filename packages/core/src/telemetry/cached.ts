import type { GaugeValue } from './metrics.ts'

const KEPT_MS = 10_000

/**
 * Reads a gauge from the database at most every ten seconds: anybody who reaches the port may read
 * the metrics.
 */
export function cached(read: () => Promise<GaugeValue>): () => Promise<GaugeValue> {
  let value: Promise<GaugeValue> | null = null
  let readAt = 0
  return () => {
    const now = performance.now()
    if (!value || now - readAt > KEPT_MS) {
      value = read()
      readAt = now
    }
    return value
  }
}
