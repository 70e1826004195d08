interface Waiting {
  readonly run: object
  readonly enter: () => void
}

/**
 * Limits concurrent calls to one judge: at most `limit`, halved when the judge reports too many
 * requests, plus one after each success. Runs take turns, so that a large one does not delay the
 * others.
 */
export class CallGate {
  readonly #limit: number
  #waiting: readonly Waiting[] = []
  #allowed: number
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
    this.#allowed = limit
  }

  get allowed(): number {
    return this.#allowed
  }

  /** Resolves when a call of `run` may start; rejects with the signal's reason. */
  async enter(run: object, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { run, enter: resolve }
    const onAbort = () => {
      this.#waiting = this.#waiting.filter((one) => one !== waiting)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#waiting = [...this.#waiting, waiting]
    this.#admit()
    await promise.finally(() => signal.removeEventListener('abort', onAbort))
  }

  leave(): void {
    this.#running--
    this.#admit()
  }

  /** The judge reported too many requests. */
  shrink(): void {
    this.#allowed = Math.max(1, Math.floor(this.#allowed / 2))
  }

  grow(): void {
    this.#allowed = Math.min(this.#limit, this.#allowed + 1)
  }

  #admit(): void {
    while (this.#running < this.#allowed) {
      const [next, ...others] = this.#waiting
      if (!next) return
      // The run of an admitted call goes to the end of the round.
      const isNext = ({ run }: Waiting) => run === next.run
      this.#waiting = [...others.filter((one) => !isNext(one)), ...others.filter(isNext)]
      this.#running++
      next.enter()
    }
  }
}
