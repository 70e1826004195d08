interface Running<Result> {
  /** Resolves when the call that runs has ended, with or without success. */
  readonly ended: Promise<void>
  /** The call after it, for all that arrived since it began. */
  next: Promise<Result> | null
}

/**
 * Lets concurrent calls with the same key share one execution that begins after each of them arrived,
 * so that none gets a result older than itself. At most one execution runs per key.
 */
export class SharedCalls<Result> {
  readonly #running = new Map<string, Running<Result>>()

  run(key: string, execute: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key)
    if (!running) return this.#start(key, execute)
    return (running.next ??= running.ended.then(() => this.#start(key, execute)))
  }

  #start(key: string, execute: () => Promise<Result>): Promise<Result> {
    const result = execute()
    const end = () => {
      // The next call replaces this one.
      if (running.next === null) this.#running.delete(key)
    }
    const running: Running<Result> = { ended: result.then(end, end), next: null }
    this.#running.set(key, running)
    return result
  }
}
