import { Refusal } from './job.ts'
import type { JobAnswer, ThreadMessage, JobRequest } from './job.ts'
import { Thread } from './thread.ts'

class TookTooLong extends Error {}

/** The thread exited, but not because of time or memory. The cause may be an earlier job. */
export class ThreadLost extends Error {
  constructor(cause: Error) {
    super(`the worker thread of the job exited: ${cause.message}`, { cause })
    this.name = 'ThreadLost'
  }
}

/** One worker, running one job at a time. A dead worker accepts no job. */
export class JobThread {
  readonly #thread: Thread<JobRequest, ThreadMessage>

  constructor(file: URL, maxHeapMb: number) {
    this.#thread = new Thread(file, { maxHeapMb })
  }

  get isAlive(): boolean {
    return this.#thread.isAlive
  }

  async run(task: JobRequest, limitMs: number): Promise<JobAnswer<unknown>> {
    // The start is not charged as computing time.
    await this.#thread.ready
    const started = performance.now()
    const parts: unknown[] = []
    const timer = setTimeout(() => void this.#thread.end(new TookTooLong()), limitMs)
    try {
      const ended = await this.#thread.run<JobAnswer<unknown>['ended']>(task, {
        hear(report, settle) {
          if ('ready' in report) return
          if ('refused' in report) throw new Refusal(report.refused)
          if ('defect' in report) throw new Error(report.defect)
          parts.push(...report.parts)
          if (report.done) settle('done')
        },
        died(error) {
          if (error instanceof TookTooLong) return 'time'
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return 'memory'
          throw new ThreadLost(error)
        },
      })
      return { parts, ended, spentMs: performance.now() - started }
    } finally {
      clearTimeout(timer)
    }
  }

  end(): Promise<void> {
    return this.#thread.end()
  }
}
