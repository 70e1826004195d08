interface Waiting {
  readonly enter: () => void
}

/**
 * Limits concurrent calls to one judge: at most `limit`, halved when the judge reports too many
 * requests, plus one after each success. Runs take turns, so that a large one does not delay the
 * others.
 */
export class Gate {
  readonly #limit: number
  readonly #queues = new Map<object, Waiting[]>()
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
  enter(run: object, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error)
        return
      }
      const onAbort = () => {
        this.#remove(run, waiting)
        reject(signal.reason as Error)
      }
      const waiting: Waiting = {
        enter: () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      signal.addEventListener('abort', onAbort, { once: true })
      const queue = this.#queues.get(run)
      if (queue) queue.push(waiting)
      else this.#queues.set(run, [waiting])
      this.#admit()
    })
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
      const [turn] = this.#queues
      if (!turn) return
      const [run, queue] = turn
      const next = queue.shift()
      // Moves the run to the end of the round, or removes it.
      this.#queues.delete(run)
      if (queue.length > 0) this.#queues.set(run, queue)
      if (!next) continue
      this.#running++
      next.enter()
    }
  }

  #remove(run: object, waiting: Waiting): void {
    const queue = this.#queues.get(run)
    const at = queue?.indexOf(waiting) ?? -1
    if (!queue || at < 0) return
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(run)
  }
}
