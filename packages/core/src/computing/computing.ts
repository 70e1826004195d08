import { computedMs } from '../base/clock.ts'
import type { HeavyWorkQueue } from '../threads/heavy-work-queue.ts'

/** Reports when a decision has computed for too long. */
export interface Meter {
  /** Starts the clock unless it is running. Called before a step that may take long. */
  start?(): void
  isOver(): boolean
}

/** Milliseconds that the conditions of one decision may compute, all stages together. */
export const DECISION_MS = 25

/**
 * The computing time of one decision, from `start` or the first check: most decisions finish
 * before.
 */
export class DecisionMeter implements Meter {
  readonly #limitMs: number
  readonly #computed: () => number
  readonly #passed: () => number
  #computedFrom: number | null = null
  #passedFrom = 0
  /** True once `isOver` was: what was computed since then is not complete. */
  wasOver = false

  /** Both clocks give milliseconds and only measure: the time computed, and the time that passed. */
  constructor(
    limitMs: number = DECISION_MS,
    computed: () => number = computedMs,
    passed: () => number = () => performance.now(),
  ) {
    this.#limitMs = limitMs
    this.#computed = computed
    this.#passed = passed
  }

  start(): void {
    if (this.#computedFrom !== null) return
    this.#computedFrom = this.#computed()
    this.#passedFrom = this.#passed()
  }

  isOver(): boolean {
    this.start()
    // The time that passed costs a tenth of the time computed, and is never behind it.
    if (this.#passed() - this.#passedFrom <= this.#limitMs) return false
    this.wasOver ||= this.#computed() - (this.#computedFrom ?? 0) > this.#limitMs
    return this.wasOver
  }
}

/** Milliseconds after which a transaction starts no further decision. */
export const BATCH_MS = 10

/**
 * The computing time of one transaction. A started decision is finished, so every transaction makes
 * progress; the remaining decisions wait for the next transaction.
 */
export class BatchTime {
  readonly #clock: () => number
  /** Milliseconds of `firstOf` so far. */
  spentMs = 0

  /** `clock` gives milliseconds and only measures. */
  constructor(clock: () => number = computedMs) {
    this.#clock = clock
  }

  /**
   * Returns the results for as many leading items as the time allows. Synchronous: no other work
   * runs in between.
   */
  firstOf<Item, Result>(items: readonly Item[], compute: (item: Item) => Result): Result[] {
    const results: Result[] = []
    const before = this.spentMs
    const cpu = this.#clock()
    const wall = performance.now()
    for (const item of items) {
      // The wall clock costs a tenth of reading the CPU time and never runs behind it.
      if (before + performance.now() - wall >= BATCH_MS) {
        this.spentMs = before + this.#clock() - cpu
        if (this.spentMs >= BATCH_MS) return results
      }
      results.push(compute(item))
    }
    this.spentMs = before + this.#clock() - cpu
    return results
  }
}

/**
 * Shares the event loop among organizations. For a second after a transaction that used up its
 * computing time, the transactions of that organization are heavy work: they queue with all other heavy work,
 * which leaves half of the time for others. An organization that is alone does not wait.
 */
export class OrganizationShares {
  readonly #heavyWork: HeavyWorkQueue
  /** They had a transaction that used up its time. */
  readonly #heavy = new RecentOrganizations()
  readonly #active = new RecentOrganizations()

  constructor(heavyWork: HeavyWorkQueue) {
    this.#heavyWork = heavyWork
  }

  /** Records a request of an organization. */
  seen(orgId: string): void {
    this.#active.add(orgId)
  }

  hasOthers(orgId: string): boolean {
    return this.#active.size > (this.#active.has(orgId) ? 1 : 0)
  }

  /** Returns whether the organization computes for long while others are active. */
  isHeavy(orgId: string): boolean {
    return this.#heavy.has(orgId) && this.hasOthers(orgId)
  }

  /**
   * Runs a transaction, if it is heavy when it is the organization's turn; it resolves to its
   * computing time in ms.
   */
  async run(orgId: string, isHeavy: boolean, transaction: () => Promise<number>): Promise<void> {
    const spentMs = await (isHeavy ? this.#heavyWork.run(orgId, transaction) : transaction())
    if (spentMs >= BATCH_MS) this.#heavy.add(orgId)
  }
}

/** Milliseconds for which an organization is remembered. */
const RECENT_MS = 1_000

/** Organizations for which something happened within the last second. */
class RecentOrganizations {
  /** `performance.now()` of the last event, oldest first. */
  readonly #times = new Map<string, number>()

  get size(): number {
    this.#forget()
    return this.#times.size
  }

  has(orgId: string): boolean {
    this.#forget()
    return this.#times.has(orgId)
  }

  add(orgId: string): void {
    this.#times.delete(orgId)
    this.#times.set(orgId, performance.now())
    this.#forget()
  }

  #forget(): void {
    const now = performance.now()
    for (const [id, at] of this.#times) {
      if (now - at <= RECENT_MS) break
      this.#times.delete(id)
    }
  }
}

/** Clock and event loop, as an argument. Milliseconds. */
export interface Pacing {
  /** Monotonic. */
  now(): number
  /** Lets other requests run. */
  pause(): Promise<void>
}

const SLICE_MS = 10

/** Returns a function to call between pieces of work: it pauses after every 10 ms of work. */
export function sliced(pacing: Pacing): () => Promise<void> {
  let begun = pacing.now()
  return async () => {
    if (pacing.now() - begun < SLICE_MS) return
    await pacing.pause()
    begun = pacing.now()
  }
}
