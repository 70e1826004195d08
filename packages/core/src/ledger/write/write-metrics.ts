import { SECONDS } from '../../telemetry/metrics.ts'
import type { Metrics, Observe } from '../../telemetry/metrics.ts'

/** Measurements of the writer. */
export interface WriteMetrics {
  readonly queueSeconds: Observe
  readonly batchSize: Observe
  readonly lockSeconds: Observe
}

const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

export const writeMetrics = (metrics: Metrics): WriteMetrics => ({
  queueSeconds: metrics.histogram(
    'remit_queue_wait_seconds',
    'Time of a request in the queue of its organization',
    { buckets: SECONDS },
  ),
  batchSize: metrics.histogram('remit_batch_size', 'Requests per transaction of the ledger', {
    buckets: SIZES,
  }),
  lockSeconds: metrics.histogram(
    'remit_lock_wait_seconds',
    'Time from the start of a transaction until it has the lock of its ledger',
    { buckets: SECONDS },
  ),
})
