import type { LedgerEntryRow } from '@remit/core/db'

/** Follows the entries to the end of a period and finds its last entry. */
export class PeriodEnd {
  readonly #to: string
  /** The last entry before the end of the period; -1 and null without one. */
  lastSeq = -1
  hashAtLast: string | null = null
  gaps = 0
  regressions = 0
  /**
   * The first entry after the end; nothing of the period can be missing behind it. Null without
   * one.
   */
  closedBy: number | null = null
  #next: number | null = null
  #time = ''

  constructor(to: number) {
    this.#to = new Date(to).toISOString()
  }

  entry({ seq, recorded_at: time, hash }: LedgerEntryRow): void {
    if (time >= this.#to) {
      this.closedBy ??= seq
      return
    }
    if (this.#next !== null && seq !== this.#next) this.gaps += 1
    if (time < this.#time) this.regressions += 1
    this.#next = seq + 1
    this.#time = time
    this.lastSeq = seq
    this.hashAtLast = hash
  }
}
