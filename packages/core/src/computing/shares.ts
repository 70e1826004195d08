import type { Share } from '../threads/share.ts'
import { BATCH_MS } from './meter.ts'

/**
 * Shares the event loop among organizations. For a second after a transaction that used up its
 * computing time, the transactions of that organization are heavy work: they queue with all other heavy work,
 * which leaves half of the time for others. An organization that is alone does not wait.
 */
export class Shares {
  readonly #heavyWork: Share
  /** They had a transaction that used up its time. */
  readonly #heavy = new RecentOrganizations()
  readonly #active = new RecentOrganizations()

  constructor(heavyWork: Share) {
    this.#heavyWork = heavyWork
  }

  /** Records a request of an organization. */
  seen(orgId: string): void {
    this.#active.add(orgId)
  }

  /** Returns whether another organization is active. */
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
    const computedMs = await (isHeavy ? this.#heavyWork.run(orgId, transaction) : transaction())
    if (computedMs >= BATCH_MS) this.#heavy.add(orgId)
  }
}

/** Milliseconds for which an organization is remembered. */
const RECENT_MS = 1_000

/** Organizations for which something happened within the last second. */
export class RecentOrganizations {
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
