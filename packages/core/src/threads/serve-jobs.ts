import { setImmediate } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { Refusal } from './job.ts'
import type { Job, Report, Task } from './job.ts'

// What is not told is lost when the worker is ended.
const TELL_AFTER_MS = 10

const tell = (report: Report) => parentPort?.postMessage(report)

/** Makes this thread one that does these jobs. */
export function serveJobs(served: readonly Job<never, unknown>[]): void {
  const jobs = new Map(served.map((job) => [job.name, job as Job<unknown, unknown>]))
  parentPort?.on('message', (task: Task) => void answer(jobs, task))
  tell({ ready: true })
}

async function answer(jobs: ReadonlyMap<string, Job<unknown, unknown>>, task: Task): Promise<void> {
  try {
    const last = work(jobs, task)
    // A promise that the job left behind and that fails ends the thread now, while it is still this job's.
    await setImmediate()
    tell({ parts: last, done: true })
  } catch (error) {
    if (error instanceof Refusal) tell({ refused: error.reason })
    else tell({ defect: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

/** Tells the parts as they come, and gives back those that are left at the end. */
function work(jobs: ReadonlyMap<string, Job<unknown, unknown>>, task: Task): readonly unknown[] {
  const job = jobs.get(task.job)
  if (!job) throw new Error(`no worker knows the job ${task.job}`)
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
