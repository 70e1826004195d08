import { Failure } from '@remit/core/base'
import type { Database } from '@remit/core/db/open'
import type { OnProgress } from '@remit/core/module'
import { siblingModule, Thread } from '@remit/core/threads'
import type { Tables } from '../tables/schema.ts'
import { received } from '../jobs/jobs.ts'
import type { JobMessage, Task } from '../jobs/jobs.ts'
import { runTask } from './run-task.ts'

/** Runs jobs one at a time. A runner that is not alive accepts none. */
export interface Runner {
  readonly isAlive: boolean
  run(task: Task, onProgress: OnProgress): Promise<unknown>
  /** Ends the running job, which rejects with `reason`. */
  end(reason: Error): Promise<void>
}

// Many times the requirement of a large organization.
const MAX_HEAP_MB = 384
// Entries arrive in pages. With late collection, PostgreSQL's buffers cause full collections, which
// took a fifth of the thread's time.
const MAX_YOUNG_MB = 48

/** A thread with its own connection. */
export class ThreadRunner implements Runner {
  readonly #thread: Thread<Task, JobMessage>

  constructor(url: string) {
    const options = { maxHeapMb: MAX_HEAP_MB, maxYoungMb: MAX_YOUNG_MB, data: { url } }
    this.#thread = new Thread(siblingModule(import.meta.url, 'worker'), options)
  }

  get isAlive(): boolean {
    return this.#thread.isAlive
  }

  run(task: Task, onProgress: OnProgress): Promise<unknown> {
    return this.#thread.run<unknown>(task, {
      hear(report, settle) {
        if ('total' in report) onProgress(report.done, report.total)
        else if ('result' in report) settle(report.result)
        else if ('refused' in report) {
          const { code, message, extras } = report.refused
          throw new Failure(code, message, extras)
        } else if ('failed' in report) throw received(report.failed)
      },
      died(error) {
        if (error instanceof Failure) throw error
        throw new Error(`The ledger worker thread ended: ${error.message}`, {
          cause: error,
        })
      },
    })
  }

  end(reason: Error): Promise<void> {
    return this.#thread.end(reason)
  }
}

/** Runs on the event loop, page by page: for a database that no other thread can open. */
export class LocalRunner implements Runner {
  readonly isAlive = true
  readonly #db: Database<Tables>
  #ended: Error | null = null

  constructor(db: Database<Tables>) {
    this.#db = db
  }

  run(task: Task, onProgress: OnProgress): Promise<unknown> {
    this.#ended = null
    return runTask(this.#db, task, (done, total) => {
      if (this.#ended) throw this.#ended
      onProgress(done, total)
    })
  }

  end(reason: Error): Promise<void> {
    this.#ended = reason
    return Promise.resolve()
  }
}
