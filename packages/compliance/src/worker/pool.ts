import { unavailable } from '@remit/core/db'
import { Turns } from '@remit/core/threads'
import type { JobWatch, Task } from '../jobs/jobs.ts'
import type { Runner } from './runner.ts'

export interface PoolOptions {
  /** Creates a runner. */
  readonly start: () => Runner
  readonly size?: number
  /** The maximum waiting jobs: per organization, and in total. */
  readonly maxWaiting?: { readonly each: number; readonly total: number }
  /** The time after which an idle runner ends. */
  readonly idleMs?: number
}

const SIZE = 2
const MAX_WAITING = { each: 4, total: 16 }
const IDLE_MS = 60_000

/** Runs a few jobs at once and queues others fairly between organizations. */
export class JobPool {
  readonly #start: () => Runner
  readonly #idleMs: number
  readonly #turns: Turns
  readonly #idle = new Map<Runner, NodeJS.Timeout>()
  readonly #running = new Set<Runner>()
  #closed = false

  constructor({ start, size = SIZE, maxWaiting = MAX_WAITING, idleMs = IDLE_MS }: PoolOptions) {
    this.#start = start
    this.#idleMs = idleMs
    this.#turns = new Turns({ size, waiting: maxWaiting })
  }

  run(task: Task, watch: JobWatch = {}): Promise<unknown> {
    if (this.#closed || watch.signal?.aborted) return Promise.reject(unavailable('overloaded'))
    return this.#turns.run(task.orgId, () => this.#give(this.#take(), task, watch))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#turns.close(unavailable('overloaded'))
    for (const timer of this.#idle.values()) clearTimeout(timer)
    const runners = [...this.#idle.keys(), ...this.#running]
    await Promise.all(runners.map((runner) => runner.end(unavailable('overloaded'))))
  }

  #take(): Runner {
    for (const [runner, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(runner)
      if (runner.isAlive) return runner
    }
    return this.#start()
  }

  async #give(runner: Runner, task: Task, { signal, onProgress }: JobWatch): Promise<unknown> {
    this.#running.add(runner)
    const abort = () => void runner.end(unavailable('overloaded'))
    signal?.addEventListener('abort', abort, { once: true })
    try {
      if (signal?.aborted) throw unavailable('overloaded')
      return await runner.run(task, (done, total) => onProgress?.(done, total))
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#running.delete(runner)
      if (runner.isAlive && !this.#closed) this.#rest(runner)
    }
  }

  #rest(runner: Runner): void {
    const timer = setTimeout(() => {
      this.#idle.delete(runner)
      void runner.end(new Error('the worker was idle'))
    }, this.#idleMs)
    this.#idle.set(runner, timer.unref())
  }
}
