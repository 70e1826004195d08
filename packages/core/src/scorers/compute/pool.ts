import { availableParallelism } from 'node:os'
import type { ScoreOutcome, Unscorable } from '../scorer.ts'
import type { Task } from './messages.ts'
import { WorkerThread } from './thread.ts'

/** What became of a task. */
export interface TaskAnswer {
  /** One a result, in order; fewer than there are results when it was ended. */
  readonly outcomes: readonly (ScoreOutcome | Unscorable)[]
  /** `time`: it took longer than it was given. `memory`: it needed more than a worker has. */
  readonly ended: 'done' | 'time' | 'memory'
  readonly spentMs: number
}

/** Computes away from the event loop. */
export interface Computer {
  /**
   * Throws `UnusableParam` for params that cannot be prepared. Tasks of one owner never take all
   * workers, so that he cannot keep others waiting.
   */
  run(owner: string, task: Task, limitMs: number): Promise<TaskAnswer>
  close(): Promise<void>
}

interface Waiting {
  readonly owner: string
  readonly task: Task
  readonly limitMs: number
  readonly resolve: (answer: TaskAnswer) => void
  readonly reject: (error: unknown) => void
}

const MOST_WORKERS = 4
// Many times what the longest texts need.
const MAX_HEAP_MB = 512

/** Threads that are started when they are needed, and stay. */
export class ComputePool implements Computer {
  readonly #size: number
  readonly #maxHeapMb: number
  readonly #idle: WorkerThread[] = []
  readonly #all = new Set<WorkerThread>()
  readonly #running = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #closed = false

  constructor(
    size = Math.min(MOST_WORKERS, Math.max(2, availableParallelism() - 1)),
    maxHeapMb = MAX_HEAP_MB,
  ) {
    this.#size = size
    this.#maxHeapMb = maxHeapMb
  }

  run(owner: string, task: Task, limitMs: number): Promise<TaskAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new Error('the server is closing'))
        return
      }
      this.#waiting.push({ owner, task, limitMs, resolve, reject })
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

  #start(): WorkerThread | undefined {
    if (this.#all.size >= this.#size) return undefined
    const thread = new WorkerThread(this.#maxHeapMb)
    this.#all.add(thread)
    return thread
  }

  async #give(thread: WorkerThread, { owner, task, limitMs, ...waiting }: Waiting): Promise<void> {
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1)
    try {
      waiting.resolve(await thread.run(task, limitMs))
    } catch (error) {
      waiting.reject(error)
    }
    const left = (this.#running.get(owner) ?? 1) - 1
    if (left > 0) this.#running.set(owner, left)
    else this.#running.delete(owner)
    if (thread.isAlive) this.#idle.push(thread)
    else this.#all.delete(thread)
    this.#next()
  }
}
