import type { Share } from '../threads/share.ts'
import { BATCH_MS } from './meter.ts'

/** Milliseconds for which an organization counts as active after its last request. */
const ACTIVE_MS = 1_000

/**
 * Shares the event loop among organizations. After a transaction that used up its computing time,
 * the next transactions of that organization are heavy work: they queue with all other heavy work,
 * which leaves half of the time for others. An organization that is alone does not wait.
 */
export class Shares {
  readonly #heavyWork: Share
  /** End of the last transaction that used up its time, by organization, `performance.now()`. */
  readonly #heavy = new Map<string, number>()
  readonly #active = new Map<string, number>()

  constructor(heavyWork: Share) {
    this.#heavyWork = heavyWork
  }

  /** Records a request of an organization. */
  seen(orgId: string, now: number): void {
    note(this.#active, orgId, now)
  }

  /** Returns whether another organization is active. */
  hasOthers(orgId: string): boolean {
    forget(this.#active, performance.now())
    return this.#active.size > (this.#active.has(orgId) ? 1 : 0)
  }

  /** Runs a transaction when it is the organization's turn; it resolves to its computing time in ms. */
  async run(orgId: string, transaction: () => Promise<number>): Promise<void> {
    const isHeavy = this.#isHeavy(orgId) && this.hasOthers(orgId)
    const computedMs = await (isHeavy ? this.#heavyWork.run(orgId, transaction) : transaction())
    if (computedMs >= BATCH_MS) note(this.#heavy, orgId, performance.now())
    else this.#heavy.delete(orgId)
  }

  #isHeavy(orgId: string): boolean {
    forget(this.#heavy, performance.now())
    return this.#heavy.has(orgId)
  }
}

/** The oldest entries come first, so expired ones are removed and the map stays small. */
function note(times: Map<string, number>, orgId: string, now: number): void {
  times.delete(orgId)
  times.set(orgId, now)
  forget(times, now)
}

function forget(times: Map<string, number>, now: number): void {
  for (const [id, at] of times) {
    if (now - at <= ACTIVE_MS) break
    times.delete(id)
  }
}
