/** Background work that repeats until it is closed. Runs never overlap, and errors are logged. */
export class Periodic {
  readonly #everyMs: number
  readonly #work: () => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null

  /** `onError` gets the errors of `work`, which never end the repetition. */
  constructor(everyMs: number, work: () => Promise<void>, onError: (error: unknown) => void) {
    this.#everyMs = everyMs
    this.#work = () => work().catch(onError)
  }

  /** The first run is after one period. */
  start(): void {
    this.#timer = setInterval(() => void this.run(), this.#everyMs).unref()
  }

  /** Runs the work, or waits for the current run. */
  run(): Promise<void> {
    this.#running ??= this.#work().finally(() => (this.#running = null))
    return this.#running
  }

  /** Stops the repetition and waits for the current run. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }
}
