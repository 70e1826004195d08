import type { Span } from '../../telemetry/tracing.ts'
import type { Waiting } from './queue.ts'

/**
 * Starts the span of a commit if one of its requests is sampled: a part of the first one, to which
 * the others link. Returns a function that ends it.
 */
export function traceCommit(batch: readonly Waiting[], now: number): () => void {
  let commit: Span | null = null
  for (const { requester, since } of batch) {
    const { span } = requester
    if (!span) continue
    if (commit) span.linkTo(commit)
    else {
      commit = span.child('remit.commit')
      commit.set({ 'remit.batch_size': batch.length })
    }
    span.set({ 'remit.queue_wait_ms': now - since, 'remit.batch_size': batch.length })
  }
  return () => commit?.end()
}
