import type { Span } from '../../telemetry/tracing.ts'
import type { Waiting } from './queue.ts'
import type { WriteMetrics } from './write-metrics.ts'

/**
 * Measures how long the requests of a commit waited, and starts the span of the commit if one of them is
 * sampled: a part of the first one, to which the others link. Returns a function that ends it.
 */
export function observeCommit(
  batch: readonly Waiting[],
  began: number,
  metrics: WriteMetrics | undefined,
): () => void {
  let commit: Span | null = null
  if (batch.length > 0) metrics?.batchSize(batch.length)
  for (const { requester, since } of batch) {
    metrics?.queueSeconds((began - since) / 1000)
    const { span } = requester
    if (!span) continue
    if (commit) span.linkTo(commit)
    else {
      commit = span.child('remit.commit')
      commit.set({ 'remit.batch_size': batch.length })
    }
    span.set({ 'remit.queue_wait_ms': began - since, 'remit.batch_size': batch.length })
  }
  return () => commit?.end()
}
