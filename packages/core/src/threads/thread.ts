import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** What becomes of a task. */
export interface Work<Report, Result> {
  /** Each report of the thread on its way; `settle` ends the task. An error that it throws ends it too. */
  hear(report: Report, settle: (result: Result) => void): void
  /** The thread is gone: the result all the same, or an error to throw. */
  died(error: NodeJS.ErrnoException): Result
}

export interface ThreadOptions {
  readonly maxHeapMb: number
  /** Of what has just been made; what the engine thinks right unless given. */
  readonly maxYoungMb?: number
  /** `workerData` of the thread. */
  readonly data?: unknown
}

function compileCache(): NodeJS.ProcessEnv {
  // A folder for this version of Node, in the one that was named.
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** The module beside another one, in its sources as in what is built from them. */
export const beside = (url: string, name: string): URL => new URL(`./${name}${extname(url)}`, url)

/**
 * A worker thread of low priority that does one task at a time. Its first message says that it has
 * loaded. Once it is not alive, it takes no more.
 */
export class Thread<Task, Report> {
  readonly #worker: Worker
  /** Resolves once it has loaded, or is gone. */
  readonly ready: Promise<void>
  #current: { hear(report: Report): void; died(error: Error): void } | null = null
  /** Why it is not alive. */
  #ended: Error | null = null

  constructor(file: URL, { maxHeapMb, maxYoungMb, data }: ThreadOptions) {
    this.#worker = new Worker(file, {
      execArgv: [
        // Run from source, the thread must find the sources of other packages too.
        ...(file.href.endsWith('.ts') ? ['--conditions=@remit/source'] : []),
        `--import=${beside(import.meta.url, 'low-priority').href}`,
      ],
      // Nothing of the environment but where compiled modules are kept, where that is set.
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
    // Nothing is under way before it is ready, so nobody hears that it is.
    this.#worker.on('message', (report: Report) => this.#current?.hear(report))
    this.#worker.on('error', (error) => this.#die(error as Error))
    this.#worker.on('exit', () => this.#die(new Error('the worker ended')))
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

  /** Ends it whatever it is doing; what it was doing dies of `reason`. */
  async end(reason = new Error('the worker was ended')): Promise<void> {
    this.#die(reason)
    await this.#worker.terminate()
  }

  #die(error: Error): void {
    this.#ended ??= error
    this.#current?.died(error)
  }
}
