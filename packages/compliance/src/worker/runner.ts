import { beside, Failure, Thread } from '@remit/core'
import type { Database } from '@remit/core'
import type { Tables } from '../tables/schema.ts'
import { received } from '../jobs/messages.ts'
import type { Report, Task } from '../jobs/messages.ts'
import { runTask } from './run-task.ts'

export type OnProgress = (done: number, total: number) => void

/** Where jobs are done, one at a time. Once it is not alive, it takes no more. */
export interface Runner {
  readonly isAlive: boolean
  run(task: Task, onProgress: OnProgress): Promise<unknown>
  /** Ends what is under way, which then rejects with `reason`. */
  end(reason: Error): Promise<void>
}

// Many times what the facts of a large organization need.
const MAX_HEAP_MB = 384
// Pages of entries go as they come. Collected late, the buffers that PostgreSQL's came in are so many
// that full collections have to be made for them, which took a fifth of the thread's time.
const MAX_YOUNG_MB = 48

/** A thread with a connection of its own. */
export class ThreadRunner implements Runner {
  readonly #thread: Thread<Task, Report>

  constructor(url: string) {
    const options = { maxHeapMb: MAX_HEAP_MB, maxYoungMb: MAX_YOUNG_MB, data: { url } }
    this.#thread = new Thread(beside(import.meta.url, 'worker'), options)
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

/** The event loop itself, page by page: for a database that nobody else can open. */
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
