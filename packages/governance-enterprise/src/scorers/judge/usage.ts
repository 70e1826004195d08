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
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS
    ? value
    : null

/** The unit of `priceOf` in one micro-USD, and in one USD. */
export const PARTS_OF_MICRO = 1_000_000
export const PARTS_OF_USD = PARTS_OF_MICRO * 1e6

/**
 * The price of tokens in millionths of a micro-USD, an integer, so that sums are exact. Prices have
 * at most six decimals; without prices, the price is 0.
 */
export function priceOf({ input, output, cached }: TokenUsage, prices: Prices | undefined): number {
  if (!prices) return 0
  const parts = (usd: number) => Math.round(usd * PARTS_OF_MICRO)
  return (
    (input - cached) * parts(prices.input) +
    cached * parts(prices.cached_input ?? prices.input) +
    output * parts(prices.output)
  )
}

/** USD with six decimals, rounded up, so that no cost becomes zero. */
export const usdOf = (parts: number): number => Math.ceil(parts / PARTS_OF_MICRO) / 1e6

/** The maximum usage of a call: a token is rarely shorter than three bytes. */
export const mostUsage = (requestBytes: number, maxOutputTokens: number): TokenUsage => ({
  input: Math.ceil(requestBytes / 3),
  output: maxOutputTokens,
  cached: 0,
})

const COUNTS = ['calls', 'unmetered', 'input', 'output', 'cached'] as const

/** Sums the usage of the attempts of a call. */
export class UsageMeter implements TokenUsage {
  calls = 0
  /** Calls that may have been charged without a reported usage. */
  unmetered = 0
  input = 0
  output = 0
  cached = 0

  /** Adds the usage of a call, or of another meter. */
  add(other: Partial<Record<(typeof COUNTS)[number], number>>): void {
    for (const count of COUNTS) this[count] += other[count] ?? 0
  }
}

/** The usage of calls. `cost_usd` is null if the model has no price: unknown is not free. */
export function usageReport(
  calls: readonly { readonly meter: UsageMeter }[],
  prices: Prices | undefined,
) {
  const total = new UsageMeter()
  for (const { meter } of calls) total.add(meter)
  return {
    usage: {
      input_tokens: total.input,
      output_tokens: total.output,
      cached_tokens: total.cached,
      calls: total.calls,
      unmetered_calls: total.unmetered,
    },
    cost_usd: prices ? usdOf(priceOf(total, prices)) : null,
  }
}
