import { decimal } from './meter.ts'
import { DAY, HOUR, SECOND } from './facts.ts'

/**
 * Parses `YYYY-MM-DDTHH:MM:SS.mmmZ` (docs/ledger-format.md) to milliseconds; NaN for anything else.
 * Entries are in order, so the day is usually cached.
 */
export class MomentReader {
  #day = ''
  #start = Number.NaN
  #text = ''
  #time = Number.NaN

  read(text: string): number {
    if (text === this.#text) return this.#time
    this.#text = text
    this.#time = this.#timeOf(text)
    return this.#time
  }

  #timeOf(text: string): number {
    if (text.length !== 24 || text.charCodeAt(10) !== 84 || text.charCodeAt(23) !== 90)
      return Number.NaN
    if (!text.startsWith(this.#day) || this.#day === '') {
      const day = text.slice(0, 10)
      this.#start = Date.parse(`${day}T00:00:00.000Z`)
      this.#day = Number.isNaN(this.#start) ? '' : day
    }
    const time =
      (two(text, 11) * 3600 + two(text, 14) * 60 + two(text, 17)) * 1000 +
      digit(text, 20) * 100 +
      two(text, 21)
    return time < DAY ? this.#start + time : Number.NaN
  }
}

const two = (text: string, at: number): number => digit(text, at) * 10 + digit(text, at + 1)

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 48
  return value >= 0 && value <= 9 ? value : Number.NaN
}

/** Milliseconds as hours or days with two decimals. */
export const hoursText = (ms: number): string => decimal(ms, HOUR, 2)
export const daysText = (ms: number): string => decimal(ms, DAY, 2)

/** Milliseconds as seconds with three decimals. */
export const secondsText = (ms: number | null): string | null =>
  ms === null ? null : decimal(ms, SECOND, 3)
