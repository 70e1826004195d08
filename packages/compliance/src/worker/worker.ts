/* Verifies ledgers and computes report facts in a worker thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { Failure } from '@remit/core/base'
import { toSend } from '../jobs/jobs.ts'
import type { JobMessage, Task } from '../jobs/jobs.ts'
import { runTask } from './run-task.ts'
import { readSnapshot } from './snapshot.ts'

const { url } = workerData as { readonly url: string }
const TELL_EVERY_MS = 50

const tell = (report: JobMessage) => parentPort?.postMessage(report)

async function work(task: Task): Promise<void> {
  let told = performance.now()
  const result = await readSnapshot(url, (db) =>
    runTask(db, task, (done, total) => {
      if (performance.now() - told < TELL_EVERY_MS) return
      told = performance.now()
      tell({ done, total })
    }),
  )
  tell({ result })
}

parentPort?.on('message', (task: Task) => {
  work(task).catch((error: unknown) => {
    if (error instanceof Failure) {
      const { code, message, extras } = error
      tell({ refused: { code, message, extras } })
    } else tell({ failed: toSend(error) })
  })
})

tell({ ready: true })
