import { availableParallelism } from 'node:os'
import type { ConditionThreads } from '@remit/core/decision'
import { ComputePool, siblingModule } from '@remit/core/threads'
import { factValuesOf } from '../rules/facts.ts'
import { evaluateJob } from './evaluate-job.ts'

/** Milliseconds for one job, far above its limits of computing time: the threads have low priority. */
const LIMIT_MS = 5_000
const MAX_HEAP_MB = 256
const MAX_THREADS = 4

/** Evaluates conditions in threads, which start when they are first needed. */
export function conditionThreads(): ConditionThreads & { close(): Promise<void> } {
  const size = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))
  const pool = new ComputePool(size, MAX_HEAP_MB, siblingModule(import.meta.url, 'worker'))
  return {
    async evaluate(orgId, wanted) {
      const input = wanted.map(({ ask, texts }) => ({
        values: factValuesOf(ask),
        replaced: ask.request.replaced,
        texts,
      }))
      return (await pool.run(orgId, evaluateJob, input, LIMIT_MS)).parts
    },
    close: () => pool.close(),
  }
}
