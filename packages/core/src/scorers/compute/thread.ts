import { Worker } from 'node:worker_threads'
import { UnusableParam } from '../scorer.ts'
import type { ScoreOutcome, Unscorable } from '../scorer.ts'
import { received } from './messages.ts'
import type { Report, Task } from './messages.ts'
import type { TaskAnswer } from './pool.ts'

// Run from source, the thread must find the sources of other packages too.
const fromSource = import.meta.url.endsWith('.ts')
const FILE = new URL(fromSource ? './worker.ts' : './worker.js', import.meta.url)
const execArgv = fromSource ? ['--conditions=@remit/source'] : []

interface Running {
  readonly outcomes: (ScoreOutcome | Unscorable)[]
  settle(ended: TaskAnswer['ended']): void
  fail(error: unknown): void
}

/** One worker, doing one task at a time. Once it is not alive, it takes no more. */
export class WorkerThread {
  readonly #worker: Worker
  readonly #ready: Promise<void>
  #running: Running | null = null
  /** Why it is not alive. */
  #ended: Error | null = null

  constructor(maxHeapMb: number) {
    this.#worker = new Worker(FILE, {
      execArgv,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    })
    this.#ready = new Promise((resolve) => {
      this.#worker.once('message', () => resolve())
      this.#worker.once('exit', () => resolve())
    })
    this.#worker.on('message', (report: Report) => this.#hear(report))
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      this.#ended ??= error
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#running?.settle('memory')
      else this.#running?.fail(error)
    })
    this.#worker.on('exit', () => {
      this.#ended ??= new Error('the worker ended')
      this.#running?.fail(this.#ended)
    })
  }

  get isAlive(): boolean {
    return this.#ended === null
  }

  async run(task: Task, limitMs: number): Promise<TaskAnswer> {
    this.#worker.ref()
    // Starting up is nobody's computing time.
    await this.#ready
    if (this.#ended) throw this.#ended
    const started = performance.now()
    const outcomes: Running['outcomes'] = []
    let timer: NodeJS.Timeout | undefined
    try {
      const ended = await new Promise<TaskAnswer['ended']>((resolve, reject) => {
        this.#running = { outcomes, settle: resolve, fail: reject }
        timer = setTimeout(() => {
          this.#ended ??= new Error('the worker took too long')
          resolve('time')
        }, limitMs)
        this.#worker.postMessage(task)
      })
      return { outcomes, ended, spentMs: performance.now() - started }
    } finally {
      clearTimeout(timer)
      this.#running = null
      this.#worker.unref()
      if (this.#ended) await this.end()
    }
  }

  async end(): Promise<void> {
    this.#ended ??= new Error('the worker was ended')
    await this.#worker.terminate()
  }

  #hear(report: Report): void {
    const running = this.#running
    if (!running || 'ready' in report) return
    if ('unusable' in report)
      running.fail(new UnusableParam(report.unusable.param, report.unusable.message))
    else if ('defect' in report) running.fail(new Error(report.defect))
    else {
      running.outcomes.push(...report.outcomes.map(received))
      if (report.done) running.settle('done')
    }
  }
}
