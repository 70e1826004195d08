import { dayText } from '@remit/contract/report-texts'
import { daysText } from './moment.ts'
import { DAY } from './facts.ts'
import type { FactsQuery } from './facts.ts'
import type { CheckEntries } from './outcome.ts'
import type { FactState } from './state/state.ts'

/**
 * Distances between recurring events. The edges of the period count as events, and so does the
 * creation of an organization in the period.
 */
export class Intervals {
  readonly #question: FactsQuery
  readonly #days: number
  readonly #most: number
  readonly #late: CheckEntries
  /** The first event; the edge before it is known only at the end. */
  #first: { readonly seq: number; readonly time: number } | null = null
  #last: { readonly seq: number; readonly time: number } | null = null
  #longest = { ms: 0, from: 0, until: 0 }
  /** The event that ended the last interval beyond the limit. */
  #endedBy: number | null = null
  #count = 0

  /** `days`: the longest interval. `late` receives the entry before every longer one. */
  constructor(question: FactsQuery, days: number, late: CheckEntries) {
    this.#question = question
    this.#days = days
    this.#most = days * DAY
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

  end({ organization }: FactState) {
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
    const { count, seqs } = this.#late
    const value = { longest_days: daysText(ms) }
    const params = { days: daysText(ms), from: dayText(since), until: dayText(until) }
    const fixedBy = isLateAtEnd ? null : this.#endedBy
    const check = this.#late.outcome({
      // Without time in which an event could happen, there is no interval.
      population: to > begin ? this.#count + 1 : 0,
      basis: this.#count,
      value,
      threshold: `longest interval at most ${this.#days} days`,
      // No entry is before an interval that is the whole period.
      failures: ms > this.#most ? [{ params, count, seqs, fixedBy }] : [],
    })
    return { count: this.#count, value, check }
  }

  #heed(from: number, until: number, seq: number | null): void {
    const ms = until - from
    if (ms > this.#longest.ms) this.#longest = { ms, from, until }
    if (ms > this.#most && seq !== null) this.#late.add(seq)
  }
}
