import { z } from 'zod'
import type { Prices } from './judges.ts'

/** Tokens of one call as the provider counts them; `input` includes cached input. */
export interface TokenUsage {
  readonly input: number
  readonly output: number
  readonly cached: number
}

/** The usage of an attempt that the server did not charge. */
export const NO_TOKENS: TokenUsage = { input: 0, output: 0, cached: 0 }

/** A token count of a provider; null if invalid. */
export const TokenCount = z.int().min(0).max(1e7).nullable().catch(null)

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

/** The usage of an attempt; null if it may have been charged without a reported usage. */
export type Attempt = TokenUsage | null

/** The usage of calls. `cost_usd` is null if the model has no price: unknown is not free. */
export function usageReport(calls: readonly { attempts: Attempt[] }[], prices?: Prices) {
  const attempts = calls.flatMap((call) => call.attempts)
  const metered = attempts.filter((attempt) => attempt !== null)
  const sum = (of: (usage: TokenUsage) => number) =>
    metered.reduce((total, usage) => total + of(usage), 0)
  return {
    usage: {
      input_tokens: sum(({ input }) => input),
      output_tokens: sum(({ output }) => output),
      cached_tokens: sum(({ cached }) => cached),
      calls: attempts.length,
      unmetered_calls: attempts.length - metered.length,
    },
    cost_usd: prices ? usdOf(sum((usage) => priceOf(usage, prices))) : null,
  }
}
