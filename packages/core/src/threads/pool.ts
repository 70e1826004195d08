import { availableParallelism } from 'node:os'
import { Refusal } from './job.ts'
import type { Job, JobAnswer, JobRequest, ThreadMessage } from './job.ts'
import { siblingModule, Thread } from './thread.ts'
import { Turns } from './turns.ts'

/** Computes in worker threads, off the event loop. */
export interface Computer {
  /**
   * Runs a job. Throws the `Refusal` of the job. One owner never occupies all workers, so it cannot
   * block others.
   */
  run<Input, Part>(
    owner: string,
    job: Job<Input, Part>,
    input: Input,
    limitMs: number,
  ): Promise<JobAnswer<Part>>
  close(): Promise<void>
}

const MOST_WORKERS = 4
// Many times the need of the longest texts.
const MAX_HEAP_MB = 512

/** Worker threads, started on demand and reused. `file` is their module. */
export class ComputePool implements Computer {
  readonly #turns: Turns
  readonly #maxHeapMb: number
  readonly #file: URL
  readonly #idle: JobThread[] = []
  readonly #all = new Set<JobThread>()
  #closed = false

  constructor(
    size = Math.min(MOST_WORKERS, Math.max(2, availableParallelism() - 1)),
    maxHeapMb = MAX_HEAP_MB,
    file = siblingModule(import.meta.url, '../worker'),
  ) {
    this.#turns = new Turns({ size })
    this.#maxHeapMb = maxHeapMb
    this.#file = file
  }

  async run<Input, Part>(
    owner: string,
    job: Job<Input, Part>,
    input: Input,
    limitMs: number,
  ): Promise<JobAnswer<Part>> {
    if (this.#closed) throw new Error('the server is closing')
    const task = { job: job.name, input }
    const answer = await this.#turns.run(owner, () => this.#attempt(task, limitMs))
    // The thread runs the job of that name, so the parts have its type.
    return answer as JobAnswer<Part>
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#turns.close(new Error('the server is closing'))
    await Promise.all(Array.from(this.#all, (thread) => thread.end()))
  }

  /** Retries once if a thread is lost: an earlier job may be the cause. */
  async #attempt(task: JobRequest, limitMs: number): Promise<JobAnswer<unknown>> {
    try {
      return await this.#give(task, limitMs)
    } catch (error) {
      if (!(error instanceof ThreadLost) || this.#closed) throw error
      return this.#give(task, limitMs)
    }
  }

  async #give(task: JobRequest, limitMs: number): Promise<JobAnswer<unknown>> {
    const thread = this.#idle.pop() ?? this.#start()
    try {
      return await thread.run(task, limitMs)
    } finally {
      if (thread.isAlive) this.#idle.push(thread)
      else this.#all.delete(thread)
    }
  }

  #start(): JobThread {
    const thread = new JobThread(this.#file, this.#maxHeapMb)
    this.#all.add(thread)
    return thread
  }
}

class TookTooLong extends Error {}

/** The thread exited, but not because of time or memory. The cause may be an earlier job. */
class ThreadLost extends Error {
  constructor(cause: Error) {
    super(`the worker thread of the job exited: ${cause.message}`, { cause })
    this.name = 'ThreadLost'
  }
}

/** One worker, running one job at a time. A dead worker accepts no job. */
class JobThread {
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
