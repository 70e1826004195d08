import type { Prices } from './judges.ts'

/** Tokens of one call as the provider counts them; `input` includes cached input. */
export interface TokenUsage {
  readonly input: number
  readonly output: number
  readonly cached: number
}

const MAX_TOKENS = 1e7

/** A token count of a provider, or null if invalid. */
export const tokenCount = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_TOKENS
    ? value
    : null

const PARTS = 1_000_000
/** The unit of `priceOf` in one USD. */
export const PARTS_OF_USD = PARTS * 1e6

/**
 * The price of tokens in millionths of a micro-USD, an integer, so that sums are exact. Prices have
 * at most six decimals.
 */
export function priceOf({ input, output, cached }: TokenUsage, prices: Prices): number {
  const parts = (usd: number) => Math.round(usd * PARTS)
  return (
    (input - cached) * parts(prices.input) +
    cached * parts(prices.cachedInput) +
    output * parts(prices.output)
  )
}

/** USD with six decimals, rounded up, so that no cost becomes zero. */
export const usdOf = (parts: number): number => Math.ceil(parts / PARTS) / 1e6

/** The maximum usage of a call: a token is rarely shorter than three bytes. */
export const mostUsage = (promptBytes: number, maxOutputTokens: number): TokenUsage => ({
  input: Math.ceil(promptBytes / 3),
  output: maxOutputTokens,
  cached: 0,
})

const COUNTS = ['calls', 'unmetered', 'input', 'output', 'cached', 'price'] as const

/** Sums the usage of a result or a request. */
export class UsageMeter {
  calls = 0
  /** Calls that may have been charged without a reported usage. */
  unmetered = 0
  input = 0
  output = 0
  cached = 0
  /** See `priceOf`. */
  price = 0

  add(usage: TokenUsage, prices: Prices | null): void {
    this.input += usage.input
    this.output += usage.output
    this.cached += usage.cached
    if (prices) this.price += priceOf(usage, prices)
  }

  join(other: UsageMeter): void {
    for (const count of COUNTS) this[count] += other[count]
  }

  /** `cost_usd` is null if the model has no price: unknown is not free. */
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
