import { setImmediate } from 'node:timers/promises'
import type { Work } from './work.ts'

/** Maximum number of event loop turns in which arrived requests may join. */
const MAX_TURNS = 8
/** Milliseconds after which no further turn is awaited: turns of a busy event loop are long. */
const MAX_TURNS_MS = 5
/** Milliseconds in which at least one request must arrive for the wait to continue. */
const STEP_MS = 1
/**
 * Maximum wait of a commit for requests, as a share of the duration of the last one, and in
 * milliseconds.
 */
const PATIENCE = 0.5
const MAX_PATIENCE_MS = 20

/** The queue of the writer of one organization; decides on the size of the next commit. */
export class Queue {
  readonly #works: Work[] = []
  readonly #maxBatch: number
  /** Maximum size of the next transaction: smaller after one that ran out of time. */
  #size: number
  #awaited: { readonly length: number; readonly arrived: () => void } | null = null

  /** `maxBatch` is the maximum number of requests per transaction. */
  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch
    this.#size = maxBatch
  }

  get length(): number {
    return this.#works.length
  }

  push(work: Work): void {
    this.#works.push(work)
    if (this.#awaited && this.length >= this.#awaited.length) this.#awaited.arrived()
  }

  /**
   * Returns the next requests that share a transaction, at most `most`: all up to an exclusive one,
   * or that one.
   */
  take(most = this.#maxBatch): Work[] {
    const firstAlone = this.#works.findIndex(({ alone }) => alone)
    const size = firstAlone === 0 ? 1 : firstAlone > 0 ? firstAlone : this.length
    const taken = this.#works.splice(0, Math.min(size, this.#size, most))
    this.#size = Math.min(this.#size * 2, this.#maxBatch)
    // Lanes run one after the other; the ledger keeps the order of the decisions.
    return [...Map.groupBy(taken, ({ lane }) => lane).values()].flat()
  }

  /**
   * Puts requests back to the front that a transaction had no time for; `done` others were handled.
   */
  putBack(works: readonly Work[], done: number): void {
    // In the order of arrival, so that no lane starves.
    this.#works.unshift(...works.toSorted((a, b) => a.since - b.since))
    this.#size = Math.min(Math.max(done, 1) * 2, this.#maxBatch)
  }

  /**
   * Waits for further requests to join the next commit, which costs as much as dozens of requests
   * in it. `answered` requests got their response just now, `tookMs` after the start of their
   * commit; their clients often send the next ones soon. Each wait ends with a step without a request.
   */
  async gather(answered: number, tookMs: number, most = this.#maxBatch): Promise<void> {
    const all = Math.min(this.length + answered, this.#size, most)
    const end = performance.now() + Math.min(tookMs * PATIENCE, MAX_PATIENCE_MS)
    // SQLite returns without yielding to the event loop, so arrived requests have not been read.
    const began = performance.now()
    let before = 0
    for (let turn = 0; turn < MAX_TURNS && this.length > before; turn++) {
      if (performance.now() - began > MAX_TURNS_MS) break
      before = this.length
      await setImmediate()
    }
    before = 0
    // Requests cannot overtake a change, so later ones cannot join.
    while (this.length > before && this.length < all && !this.#works.some(({ alone }) => alone)) {
      if (performance.now() + STEP_MS > end) break
      before = this.length
      await this.#reaches(all)
    }
  }

  /** Waits for one step, or less if enough requests arrive before. */
  #reaches(length: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#awaited?.arrived(), STEP_MS)
      const arrived = () => {
        clearTimeout(timer)
        this.#awaited = null
        resolve()
      }
      this.#awaited = { length, arrived }
    })
  }
}
