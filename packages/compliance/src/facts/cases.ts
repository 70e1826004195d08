import { DAY } from './report-query.ts'

/** Counts cases in the order of their times, and the days (UTC) on which they occurred. */
export class Cases {
  #lastDay = -Infinity
  count = 0
  days = 0

  add(time: number, count = 1): void {
    this.count += count
    const day = Math.floor(time / DAY)
    // A clock that went back does not count a day twice.
    if (day <= this.#lastDay) return
    this.#lastDay = day
    this.days += 1
  }
}
