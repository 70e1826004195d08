import { fail, unavailable } from '@remit/core'
import type { JobWatch } from './jobs.ts'
import type { Task } from './messages.ts'
import type { Runner } from './runner.ts'

export interface PoolOptions {
  /** Makes a place for jobs. */
  readonly start: () => Runner
  readonly size?: number
  /** Jobs that may wait: of one organization, and of all. */
  readonly maxWaiting?: { readonly each: number; readonly total: number }
  /** How long a place stays that nobody needs. */
  readonly idleMs?: number
}

interface Waiting {
  readonly task: Task
  readonly watch: JobWatch
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

const SIZE = 2
const MAX_WAITING = { each: 4, total: 16 }
const IDLE_MS = 60_000
const RETRY_AFTER_SECONDS = '5'

/** A few jobs at once and a queue, in which no organization takes the places of the others. */
export class JobPool {
  readonly #options: Required<PoolOptions>
  readonly #idle = new Map<Runner, NodeJS.Timeout>()
  readonly #running = new Map<Runner, Task>()
  readonly #waiting: Waiting[] = []
  #closed = false

  constructor({ start, size = SIZE, maxWaiting = MAX_WAITING, idleMs = IDLE_MS }: PoolOptions) {
    this.#options = { start, size, maxWaiting, idleMs }
  }

  run(task: Task, watch: JobWatch = {}): Promise<unknown> {
    if (this.#closed || watch.signal?.aborted) return Promise.reject(unavailable('overloaded'))
    if (this.#isFull(task.orgId)) return Promise.reject(busy())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, watch, resolve, reject })
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#waiting.splice(0)) reject(unavailable('overloaded'))
    for (const timer of this.#idle.values()) clearTimeout(timer)
    const runners = [...this.#idle.keys(), ...this.#running.keys()]
    await Promise.all(runners.map((runner) => runner.end(unavailable('overloaded'))))
  }

  #isFull(orgId: string): boolean {
    const { each, total } = this.#options.maxWaiting
    const own = this.#waiting.filter(({ task }) => task.orgId === orgId).length
    return own >= each || this.#waiting.length >= total
  }

  #next(): void {
    const { size } = this.#options
    if (this.#running.size >= size) return
    const share = Math.max(1, size - 1)
    const at = this.#waiting.findIndex(({ task }) => this.#runningOf(task.orgId) < share)
    const [waiting] = at < 0 ? [] : this.#waiting.splice(at, 1)
    if (waiting) void this.#give(this.#take(), waiting)
  }

  #runningOf(orgId: string): number {
    return [...this.#running.values()].filter((task) => task.orgId === orgId).length
  }

  #take(): Runner {
    for (const [runner, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(runner)
      if (runner.isAlive) return runner
    }
    return this.#options.start()
  }

  async #give(runner: Runner, { task, watch, resolve, reject }: Waiting): Promise<void> {
    const { signal, onProgress } = watch
    this.#running.set(runner, task)
    const abort = () => void runner.end(unavailable('overloaded'))
    signal?.addEventListener('abort', abort, { once: true })
    try {
      if (signal?.aborted) throw unavailable('overloaded')
      resolve(await runner.run(task, (done, total) => onProgress?.(done, total)))
    } catch (error) {
      reject(error)
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#running.delete(runner)
      if (runner.isAlive && !this.#closed) this.#rest(runner)
      this.#next()
    }
  }

  #rest(runner: Runner): void {
    const timer = setTimeout(() => {
      this.#idle.delete(runner)
      void runner.end(new Error('nobody needs it'))
    }, this.#options.idleMs)
    this.#idle.set(runner, timer.unref())
  }
}

const busy = () =>
  fail('jobs_busy', 'Too many verifications and reports are waiting; ask again later', {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  })
