import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { msOf } from '../base/clock.ts'

export interface Work<Report, Result> {
  /** Receives each message of the thread; `settle` ends the task. An exception ends it too. */
  hear(report: Report, settle: (result: Result) => void): void
  /** Called when the thread exits: returns a result or throws. */
  died(error: NodeJS.ErrnoException): Result
}

export interface ThreadOptions {
  readonly maxHeapMb: number
  /** Maximum size of the young generation; the engine's default if omitted. */
  readonly maxYoungMb?: number
  /** `workerData` of the thread. */
  readonly data?: unknown
}

function compileCache(): NodeJS.ProcessEnv {
  // A sub-folder for this version of Node.
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** Returns the URL of a module in the same folder, from source and from the build. */
export const siblingModule = (url: string, name: string): URL =>
  new URL(`./${name}${extname(url)}`, url)

/**
 * A worker thread of low priority that runs one task at a time. Its first message means that it has
 * loaded. A dead thread accepts no task.
 */
export class Thread<Task, Report> {
  readonly #worker: Worker
  /** Resolves once it has loaded, or has exited. */
  readonly ready: Promise<void>
  #current: { hear(report: Report): void; died(error: Error): void } | null = null
  /** The reason of its exit. */
  #ended: Error | null = null

  constructor(file: URL, { maxHeapMb, maxYoungMb, data }: ThreadOptions) {
    this.#worker = new Worker(file, {
      execArgv: [
        // When run from source, the thread must resolve the sources of other packages too.
        ...(file.href.endsWith('.ts') ? ['--conditions=@remit/source'] : []),
        `--import=${siblingModule(import.meta.url, 'low-priority').href}`,
      ],
      // Only the compile cache setting of the environment is passed on.
      env: compileCache(),
      workerData: data,
      resourceLimits: {
        maxOldGenerationSizeMb: maxHeapMb,
        ...(maxYoungMb !== undefined && { maxYoungGenerationSizeMb: maxYoungMb }),
      },
    })
    this.ready = new Promise((resolve) => {
      this.#worker.once('message', () => resolve())
      this.#worker.once('exit', () => resolve())
    })
    // No task is running before it is ready.
    this.#worker.on('message', (report: Report) => this.#current?.hear(report))
    this.#worker.on('error', (error) => this.#die(error as Error))
    this.#worker.on('exit', () => this.#die(new Error('the worker exited')))
  }

  get isAlive(): boolean {
    return this.#ended === null
  }

  async run<Result>(task: Task, work: Work<Report, Result>): Promise<Result> {
    this.#worker.ref()
    await this.ready
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const attempt = (step: () => void) => {
      try {
        step()
      } catch (error) {
        reject(error)
      }
    }
    const died = (error: Error) => attempt(() => resolve(work.died(error)))
    try {
      if (this.#ended) died(this.#ended)
      else {
        this.#current = { hear: (report) => attempt(() => work.hear(report, resolve)), died }
        this.#worker.postMessage(task)
      }
      return await promise
    } finally {
      this.#current = null
      this.#worker.unref()
      if (this.#ended) await this.end()
    }
  }

  /** Returns the CPU time of the thread in milliseconds; of one that has exited, infinity. */
  computedMs(): Promise<number> {
    return this.#worker.cpuUsage().then(msOf, () => Infinity)
  }

  /** Terminates it at any time; a running task fails with `reason`. */
  async end(reason = new Error('the worker was terminated')): Promise<void> {
    this.#die(reason)
    await this.#worker.terminate()
  }

  #die(error: Error): void {
    this.#ended ??= error
    this.#current?.died(error)
  }
}
