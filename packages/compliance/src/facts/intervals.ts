import { dayText } from '@remit/contract/report-texts'
import { daysText } from './moment.ts'
import type { CheckFailure } from './meter.ts'
import type { FactsQuery } from './facts.ts'
import type { SeqList } from './seqs.ts'
import type { FactState } from './state/state.ts'

/**
 * Distances between recurring events. The edges of the period count as events, and so does the
 * creation of an organization in the period.
 */
export class Intervals {
  readonly #question: FactsQuery
  readonly #most: number
  readonly #late: SeqList
  /** The first event; the edge before it is known only at the end. */
  #first: { readonly seq: number; readonly time: number } | null = null
  #last: { readonly seq: number; readonly time: number } | null = null
  #longest = { ms: 0, from: 0, until: 0 }
  /** The event that ended the last interval beyond the limit. */
  #endedBy: number | null = null
  #count = 0

  /** `most`: milliseconds. `late` receives the entry before every longer interval. */
  constructor(question: FactsQuery, most: number, late: SeqList) {
    this.#question = question
    this.#most = most
    this.#late = late
  }

  add(seq: number, time: number): void {
    if (this.#last) {
      this.#heed(this.#last.time, time, this.#last.seq)
      if (time - this.#last.time > this.#most) this.#endedBy = seq
    }
    this.#first ??= { seq, time }
    this.#last = { seq, time }
    this.#count += 1
  }

  /** `population`: intervals; 0 without an organization. */
  end({ organization }: FactState): {
    readonly longest: number
    readonly count: number
    readonly population: number
    readonly failures: readonly CheckFailure[]
  } {
    const { from, to } = this.#question
    // Without an organization, nothing could happen in the period.
    const made = organization ? organization.createdAt : to
    const begin = Math.min(to, Math.max(from, made))
    let isLateAtEnd = true
    if (this.#first && this.#last) {
      this.#heed(begin, this.#first.time, this.#first.seq)
      if (this.#first.time - begin > this.#most) this.#endedBy ??= this.#first.seq
      this.#heed(this.#last.time, to, this.#last.seq)
      isLateAtEnd = to - this.#last.time > this.#most
    } else this.#heed(begin, to, null)
    const { ms, from: since, until } = this.#longest
    return {
      longest: ms,
      count: this.#count,
      // Without time in which an event could happen, there is no interval.
      population: to > begin ? this.#count + 1 : 0,
      failures:
        ms > this.#most
          ? [
              {
                params: { days: daysText(ms), from: dayText(since), until: dayText(until) },
                count: this.#late.count,
                seqs: this.#late.seqs,
                fixedBy: isLateAtEnd ? null : this.#endedBy,
              },
            ]
          : [],
    }
  }

  #heed(from: number, until: number, seq: number | null): void {
    const ms = until - from
    if (ms > this.#longest.ms) this.#longest = { ms, from, until }
    if (ms > this.#most && seq !== null) this.#late.add(seq)
  }
}
