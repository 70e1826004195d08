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
  /** CPU time of the thread at its last message. */
  #computedMs: number | null = null

  constructor(file: URL, maxHeapMb: number) {
    this.#thread = new Thread(file, { maxHeapMb })
  }

  get isAlive(): boolean {
    return this.#thread.isAlive
  }

  /** `limitMs` is CPU time: on a busy machine, it can take longer. */
  async run(task: JobRequest, limitMs: number): Promise<JobAnswer<unknown>> {
    await this.#thread.ready
    // The start is not charged as computing time.
    this.#computedMs ??= await this.#thread.computedMs()
    const before = this.#computedMs
    const started = performance.now()
    const parts: unknown[] = []
    const stop = this.#limit(before + limitMs, limitMs)
    try {
      const end = await this.#thread.run<Omit<JobAnswer<unknown>, 'parts'>>(task, {
        hear: (report, settle) => {
          this.#computedMs = report.computedMs
          if ('ready' in report) return
          if ('refused' in report) throw new Refusal(report.refused)
          if ('defect' in report) throw new Error(report.defect)
          parts.push(...report.parts)
          if (report.done) settle({ ended: 'done', spentMs: report.computedMs - before })
        },
        died(error) {
          const spentMs = performance.now() - started
          if (error instanceof TookTooLong) return { ended: 'time', spentMs }
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return { ended: 'memory', spentMs }
          throw new ThreadLost(error)
        },
      })
      return { parts, ...end }
    } finally {
      stop()
    }
  }

  /**
   * Ends the thread when its CPU time has reached `mostMs`, unless the returned function is called
   * before. It cannot be reached earlier than after `leastMs`.
   */
  #limit(mostMs: number, leastMs: number): () => void {
    let timer: NodeJS.Timeout | null = null
    const wait = (ms: number) => {
      timer = setTimeout(() => void check(), ms)
    }
    const check = async () => {
      const leftMs = mostMs - (await this.#thread.computedMs())
      // The thread may run the next job by now.
      if (timer === null) return
      if (leftMs > 0) wait(leftMs)
      else await this.#thread.end(new TookTooLong())
    }
    wait(leastMs)
    return () => {
      if (timer) clearTimeout(timer)
      timer = null
    }
  }

  end(): Promise<void> {
    return this.#thread.end()
  }
}
