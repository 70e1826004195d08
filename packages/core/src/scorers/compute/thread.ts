import { beside, Thread } from '../../threads/thread.ts'
import { UnusableParam } from '../scorer.ts'
import type { ScoreOutcome, Unscorable } from '../scorer.ts'
import { received } from './messages.ts'
import type { Report, Task } from './messages.ts'
import type { TaskAnswer } from './pool.ts'

class TookTooLong extends Error {}

/** One worker, doing one task at a time. Once it is not alive, it takes no more. */
export class WorkerThread {
  readonly #thread: Thread<Task, Report>

  constructor(maxHeapMb: number) {
    this.#thread = new Thread(beside(import.meta.url, 'worker'), { maxHeapMb })
  }

  get isAlive(): boolean {
    return this.#thread.isAlive
  }

  async run(task: Task, limitMs: number): Promise<TaskAnswer> {
    // Starting up is nobody's computing time.
    await this.#thread.ready
    const started = performance.now()
    const outcomes: (ScoreOutcome | Unscorable)[] = []
    const timer = setTimeout(() => void this.#thread.end(new TookTooLong()), limitMs)
    try {
      const ended = await this.#thread.run<TaskAnswer['ended']>(task, {
        hear(report, settle) {
          if ('ready' in report) return
          if ('unusable' in report)
            throw new UnusableParam(report.unusable.param, report.unusable.message)
          if ('defect' in report) throw new Error(report.defect)
          outcomes.push(...report.outcomes.map(received))
          if (report.done) settle('done')
        },
        died(error) {
          if (error instanceof TookTooLong) return 'time'
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return 'memory'
          throw error
        },
      })
      return { outcomes, ended, spentMs: performance.now() - started }
    } finally {
      clearTimeout(timer)
    }
  }

  end(): Promise<void> {
    return this.#thread.end()
  }
}
