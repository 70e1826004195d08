import { setImmediate } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { computedMs } from '../base/clock.ts'
import { Refusal } from './job.ts'
import type { Job, JobRequest, Report, ThreadMessage } from './job.ts'

// Unsent parts are lost when the worker is terminated.
const TELL_AFTER_MS = 10

const tell = (report: Report) =>
  parentPort?.postMessage({ ...report, computedMs: computedMs() } satisfies ThreadMessage)

/** Makes this thread serve these jobs. */
export function serveJobs(served: readonly Job<never, unknown>[]): void {
  const jobs = new Map(served.map((job) => [job.name, job as Job<unknown, unknown>]))
  parentPort?.on('message', (task: JobRequest) => void answer(jobs, task))
  tell({ ready: true })
}

async function answer(
  jobs: ReadonlyMap<string, Job<unknown, unknown>>,
  task: JobRequest,
): Promise<void> {
  try {
    const last = work(jobs, task)
    // A rejected promise that the job left behind must end the thread while it still runs this job.
    await setImmediate()
    tell({ parts: last, done: true })
  } catch (error) {
    if (error instanceof Refusal) tell({ refused: error.reason })
    else tell({ defect: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

/** Sends the parts as they come, and returns the last ones. */
function work(
  jobs: ReadonlyMap<string, Job<unknown, unknown>>,
  task: JobRequest,
): readonly unknown[] {
  const job = jobs.get(task.job)
  if (!job) throw new Error(`the worker does not have the job ${task.job}`)
  let parts: unknown[] = []
  let told = performance.now()
  job.run(task.input, (part) => {
    parts.push(part)
    if (performance.now() - told < TELL_AFTER_MS) return
    tell({ parts, done: false })
    parts = []
    told = performance.now()
  })
  return parts
}
