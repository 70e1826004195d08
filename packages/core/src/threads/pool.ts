import { availableParallelism } from 'node:os'
import type { Job, JobAnswer, Task } from './job.ts'
import { JobThread, ThreadLost } from './job-thread.ts'
import { beside } from './thread.ts'

/** Computes away from the event loop. */
export interface Computer {
  /**
   * Throws the job's `Refusal`. What one owner asks for never takes all workers, so that he cannot
   * keep others waiting.
   */
  run<Input, Part>(
    owner: string,
    job: Job<Input, Part>,
    input: Input,
    limitMs: number,
  ): Promise<JobAnswer<Part>>
  close(): Promise<void>
}

interface Waiting {
  readonly owner: string
  readonly task: Task
  readonly limitMs: number
  readonly resolve: (answer: JobAnswer<unknown>) => void
  readonly reject: (error: unknown) => void
  /** Whether a thread was lost on it before. */
  readonly isSecondTry?: boolean
}

const MOST_WORKERS = 4
// Many times what the longest texts need.
const MAX_HEAP_MB = 512

/** Threads that are started when they are needed, and stay. `file` is the module that they run. */
export class ComputePool implements Computer {
  readonly #size: number
  readonly #maxHeapMb: number
  readonly #file: URL
  readonly #idle: JobThread[] = []
  readonly #all = new Set<JobThread>()
  readonly #running = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #closed = false

  constructor(
    size = Math.min(MOST_WORKERS, Math.max(2, availableParallelism() - 1)),
    maxHeapMb = MAX_HEAP_MB,
    file = beside(import.meta.url, 'worker'),
  ) {
    this.#size = size
    this.#maxHeapMb = maxHeapMb
    this.#file = file
  }

  run<Input, Part>(
    owner: string,
    job: Job<Input, Part>,
    input: Input,
    limitMs: number,
  ): Promise<JobAnswer<Part>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new Error('the server is closing'))
        return
      }
      // The thread does the job of that name, so the parts are that job's.
      const settle = (answer: JobAnswer<unknown>) => resolve(answer as JobAnswer<Part>)
      const task = { job: job.name, input }
      this.#waiting.push({ owner, task, limitMs, resolve: settle, reject })
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('the server is closing'))
    await Promise.all(Array.from(this.#all, (thread) => thread.end()))
  }

  #next(): void {
    const share = Math.max(1, this.#size - 1)
    const at = this.#waiting.findIndex(({ owner }) => (this.#running.get(owner) ?? 0) < share)
    if (at < 0) return
    const thread = this.#idle.pop() ?? this.#start()
    if (!thread) return
    const [waiting] = this.#waiting.splice(at, 1)
    if (waiting) void this.#give(thread, waiting)
  }

  #start(): JobThread | undefined {
    if (this.#all.size >= this.#size) return undefined
    const thread = new JobThread(this.#file, this.#maxHeapMb)
    this.#all.add(thread)
    return thread
  }

  async #give(thread: JobThread, waiting: Waiting): Promise<void> {
    const { owner, task, limitMs } = waiting
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1)
    try {
      waiting.resolve(await thread.run(task, limitMs))
    } catch (error) {
      // The job before may have left behind what ended the thread: only a second loss is this job's.
      const isOthers = error instanceof ThreadLost && !waiting.isSecondTry && !this.#closed
      if (isOthers) this.#waiting.unshift({ ...waiting, isSecondTry: true })
      else waiting.reject(error)
    }
    const left = (this.#running.get(owner) ?? 1) - 1
    if (left > 0) this.#running.set(owner, left)
    else this.#running.delete(owner)
    if (thread.isAlive) this.#idle.push(thread)
    else this.#all.delete(thread)
    this.#next()
  }
}
