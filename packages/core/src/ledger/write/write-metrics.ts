import { SECONDS } from '../../telemetry/metrics.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** Measurements of the writer, in milliseconds. */
export interface WriteMetrics {
  /** A request left the queue. */
  waited(ms: number): void
  /** A transaction began with this number of requests. */
  began(size: number): void
  /** The lock of the ledger was obtained. */
  locked(ms: number): void
}

const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

export function writeMetrics(metrics: Metrics): WriteMetrics {
  const wait = metrics.histogram(
    'remit_queue_wait_seconds',
    'Time of a request in the queue of its organization',
    { buckets: SECONDS },
  )
  const size = metrics.histogram('remit_batch_size', 'Requests per transaction of the ledger', {
    buckets: SIZES,
  })
  const lock = metrics.histogram(
    'remit_lock_wait_seconds',
    'Time from the start of a transaction until it has the lock of its ledger',
    { buckets: SECONDS },
  )
  return {
    waited: (ms) => wait(ms / 1000),
    began: (count) => size(count),
    locked: (ms) => lock(ms / 1000),
  }
}
