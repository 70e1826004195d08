import { BATCH_MS } from './batch-time.ts'

/** Milliseconds for which an organization counts as active after its last request. */
const ACTIVE_MS = 1_000

/**
 * Shares the event loop among organizations. After a transaction that used up its computing time,
 * the organization waits as long as it computed, so that at least half of the time is left for
 * others. Several such organizations take turns. An organization that is alone does not wait.
 */
export class Shares {
  /** Time at which each organization may continue, `performance.now()`. */
  readonly #resumes = new Map<string, number>()
  readonly #active = new Map<string, number>()
  #freeFrom = 0

  /** Records a request of an organization. */
  seen(orgId: string, now: number): void {
    // The oldest entries come first, so expired ones are removed and the map stays small.
    this.#active.delete(orgId)
    this.#active.set(orgId, now)
    for (const [id, at] of this.#active) {
      if (now - at <= ACTIVE_MS) break
      this.#active.delete(id)
    }
  }

  /** Records the computing time of a transaction; only one that used up its time causes a wait. */
  charge(orgId: string, computedMs: number): void {
    if (computedMs < BATCH_MS) return
    const from = Math.max(performance.now(), this.#freeFrom) + computedMs
    this.#resumes.set(orgId, from)
    this.#freeFrom = from + computedMs
  }

  /** Waits until the organization may compute again. */
  async turn(orgId: string): Promise<void> {
    const resumes = this.#resumes.get(orgId)
    if (resumes === undefined) return
    this.#resumes.delete(orgId)
    const now = performance.now()
    if (resumes > now && this.#hasOthers(orgId, now)) await pause(resumes - now)
    else this.#freeFrom = now
  }

  #hasOthers(orgId: string, now: number): boolean {
    for (const [id, at] of this.#active) {
      if (now - at > ACTIVE_MS) this.#active.delete(id)
      else if (id !== orgId) return true
    }
    return false
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
