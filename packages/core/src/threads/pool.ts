import { availableParallelism } from 'node:os'
import type { Job, JobAnswer, JobRequest } from './job.ts'
import { JobThread, ThreadLost } from './job-thread.ts'
import { siblingModule } from './thread.ts'
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
