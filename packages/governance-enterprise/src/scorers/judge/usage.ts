import type { Prices } from './judges.ts'

/** Tokens of one call as the provider counts them; `input` includes those read from its cache. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cached: number
}

const MAX_TOKENS = 1e7

/** A count that a provider sent, or null for what cannot be one. */
export const tokenCount = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_TOKENS
    ? value
    : null

const PARTS = 1_000_000
/** The unit of `priceOf` in one USD. */
export const PARTS_OF_USD = PARTS * 1e6

/**
 * The price of tokens in millionths of a micro-USD, a whole number, so that sums are exact. Prices
 * have six decimals at most.
 */
export function priceOf({ input, output, cached }: Usage, prices: Prices): number {
  const parts = (usd: number) => Math.round(usd * PARTS)
  return (
    (input - cached) * parts(prices.input) +
    cached * parts(prices.cachedInput) +
    output * parts(prices.output)
  )
}

/** As money on the wire: USD with six decimals, rounded up, so that nothing that cost is free. */
export const usdOf = (parts: number): number => Math.ceil(parts / PARTS) / 1e6

/** The most that a call can cost: a token is rarely less than three bytes of text. */
export const mostUsage = (promptBytes: number, maxOutputTokens: number): Usage => ({
  input: Math.ceil(promptBytes / 3),
  output: maxOutputTokens,
  cached: 0,
})

/** Counts what a result or a request has used. */
export class Meter {
  calls = 0
  /** Calls that may have been charged for without saying what they used. */
  unmetered = 0
  input = 0
  output = 0
  cached = 0
  /** See `priceOf`. */
  price = 0

  add(usage: Usage, prices: Prices | null): void {
    this.input += usage.input
    this.output += usage.output
    this.cached += usage.cached
    if (prices) this.price += priceOf(usage, prices)
  }

  join(other: Meter): void {
    this.calls += other.calls
    this.unmetered += other.unmetered
    this.input += other.input
    this.output += other.output
    this.cached += other.cached
    this.price += other.price
  }

  /** `cost_usd` is null where the model has no price: unknown is not free. */
  report(prices: Prices | null) {
    return {
      usage: {
        input_tokens: this.input,
        output_tokens: this.output,
        cached_tokens: this.cached,
        calls: this.calls,
        unmetered_calls: this.unmetered,
      },
      cost_usd: prices ? usdOf(this.price) : null,
    }
  }
}
