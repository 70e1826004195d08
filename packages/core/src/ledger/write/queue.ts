import { setImmediate } from 'node:timers/promises'
import type { Pending } from './transaction.ts'

/** A piece of work, since when it waits (`performance.now()`), and whom to tell what became of it. */
export interface Waiting extends Pending {
  readonly since: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Turns of the event loop at most in which requests that have reached the process may join. */
const MAX_TURNS = 8
/** Milliseconds in which at least one request has to come back for the others to be waited for. */
const STEP_MS = 1
/** What a commit may wait for requests, of the time that the last one took, and in milliseconds at most. */
const PATIENCE = 0.5
const MAX_PATIENCE_MS = 20

/** What waits for the writer of one organization, and how much of it goes into the next commit. */
export class Queue {
  readonly #pieces: Waiting[] = []
  readonly #maxBatch: number
  /** Pieces that the next transaction takes at most: fewer after one that had no time for all. */
  #size: number
  #awaited: { readonly length: number; readonly arrived: () => void } | null = null

  /** `maxBatch`: pieces in one transaction at most. */
  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch
    this.#size = maxBatch
  }

  get length(): number {
    return this.#pieces.length
  }

  push(piece: Waiting): void {
    this.#pieces.push(piece)
    if (this.#awaited && this.length >= this.#awaited.length) this.#awaited.arrived()
  }

  /** The next pieces that share a transaction: all up to one that is alone, or that one. */
  take(): Waiting[] {
    const firstAlone = this.#pieces.findIndex((pending) => pending.alone)
    const size = firstAlone === 0 ? 1 : firstAlone > 0 ? firstAlone : this.length
    const taken = this.#pieces.splice(0, Math.min(size, this.#size))
    this.#size = Math.min(this.#size * 2, this.#maxBatch)
    // One lane runs after the other; the ledger tells things in the order in which they were decided.
    return [...Map.groupBy(taken, ({ lane }) => lane).values()].flat()
  }

  /** Puts back, to the front, the pieces that a transaction had no time for; `done` others it had. */
  putBack(pieces: readonly Waiting[], done: number): void {
    // In the order of arrival, so that no lane is overtaken for ever.
    this.#pieces.unshift(...pieces.toSorted((a, b) => a.since - b.since))
    this.#size = Math.min(Math.max(done, 1) * 2, this.#maxBatch)
  }

  /**
   * Lets requests that are about to come join the commit that is about to begin: it costs as much as
   * dozens of pieces in it. `answered` of them have just been told what became of them, `tookMs` after
   * their commit began; who works for many at once has their next requests soon.
   */
  async gather(answered: number, tookMs: number): Promise<void> {
    const all = Math.min(this.length + answered, this.#size)
    const end = performance.now() + Math.min(tookMs * PATIENCE, MAX_PATIENCE_MS)
    // SQLite answers without giving the event loop a turn: what has arrived has not been read.
    await this.#asLongAs((turn) => turn < MAX_TURNS, setImmediate)
    // Nobody can overtake a change, so that nobody who comes behind one can join.
    const isOpen = () => this.length < all && !this.#pieces.some(({ alone }) => alone)
    await this.#asLongAs(
      () => isOpen() && performance.now() + STEP_MS <= end,
      () => this.#reaches(all),
    )
  }

  /** Waits step by step, until one brings nothing. */
  async #asLongAs(goesOn: (step: number) => boolean, wait: () => Promise<unknown>): Promise<void> {
    let before = 0
    for (let step = 0; goesOn(step) && this.length > before; step++) {
      before = this.length
      await wait()
    }
  }

  /** A step, or less where so many pieces are there before. */
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
