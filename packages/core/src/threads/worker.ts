/* Does jobs in a thread of its own, which can be ended whatever it is doing. */
import { parentPort } from 'node:worker_threads'
import { checkJob } from '../guard/check-job.ts'
import { scoreJob } from '../scorers/score-job.ts'
import { Refusal } from './job.ts'
import type { Job, Report, Task } from './job.ts'

// What is not told is lost when the worker is ended.
const TELL_AFTER_MS = 10

const jobs = new Map([scoreJob, checkJob].map((job) => [job.name, job as Job<unknown, unknown>]))
const tell = (report: Report) => parentPort?.postMessage(report)

function work({ job: name, input }: Task): void {
  const job = jobs.get(name)
  if (!job) throw new Error(`no worker knows the job ${name}`)
  let parts: unknown[] = []
  let told = performance.now()
  job.run(input, (part) => {
    parts.push(part)
    if (performance.now() - told < TELL_AFTER_MS) return
    tell({ parts, done: false })
    parts = []
    told = performance.now()
  })
  tell({ parts, done: true })
}

parentPort?.on('message', (task: Task) => {
  try {
    work(task)
  } catch (error) {
    if (error instanceof Refusal) tell({ refused: error.reason })
    else tell({ defect: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})

tell({ ready: true })
