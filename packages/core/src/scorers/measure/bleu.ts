import { overlap, total, union, wordGrams } from './grams.ts'

export interface BleuOptions {
  readonly smooth: 'exp' | 'floor' | 'add_k' | 'none'
  /** For `floor` and `add_k`. */
  readonly smoothValue: number
  /** Use only the orders that the text is long enough for; for single sentences. */
  readonly effectiveOrder: boolean
}

/** `[length, reference length, matches of order 1…n, n-grams of order 1…n]`; they add up. */
export type BleuCounts = readonly number[]

/**
 * Returns the counts for BLEU. Several references are merged: each n-gram has its highest count.
 */
export function bleuCounts(
  output: readonly string[],
  references: readonly (readonly string[])[],
  maxOrder: number,
): BleuCounts {
  const matches: number[] = []
  const totals: number[] = []
  for (let order = 1; order <= maxOrder; order++) {
    const own = wordGrams(output, order)
    matches.push(overlap(own, union(references.map((words) => wordGrams(words, order)))))
    totals.push(total(own))
  }
  return [output.length, closestLength(output.length, references), ...matches, ...totals]
}

function closestLength(length: number, references: readonly (readonly string[])[]): number {
  let closest = references[0]?.length ?? 0
  for (const { length: other } of references) {
    const nearer = Math.abs(other - length) - Math.abs(closest - length)
    if (nearer < 0 || (nearer === 0 && other < closest)) closest = other
  }
  return closest
}

/** Returns BLEU from 0 to 1, as in sacrebleu. */
export function bleu(counts: BleuCounts, options: BleuOptions): number {
  const [length = 0, reference = 0, ...rest] = counts
  const orders = rest.length / 2
  const matches = rest.slice(0, orders)
  const totals = rest.slice(orders)
  if (!matches.some((count) => count > 0)) return 0
  const penalty = length < reference ? Math.exp(1 - reference / length) : 1
  const { logs, reached } = logPrecisions(matches, totals, options)
  const order = options.effectiveOrder ? reached : orders
  let sum = 0
  for (let at = 0; at < order; at++) sum += logs[at] ?? Number.NEGATIVE_INFINITY
  return Math.min(1, penalty * Math.exp(sum / order))
}

function logPrecisions(
  matches: readonly number[],
  totals: readonly number[],
  { smooth, smoothValue }: BleuOptions,
): { logs: number[]; reached: number } {
  const logs: number[] = []
  let halving = 1
  for (const [at, found] of matches.entries()) {
    // With add-k, an order without n-grams does not end the sum either.
    const added = smooth === 'add_k' && at > 0 ? smoothValue : 0
    const all = (totals[at] ?? 0) + added
    if (all === 0) break
    let hits = found + added
    if (hits === 0 && smooth === 'exp') {
      halving *= 2
      hits = 1 / halving
    } else if (hits === 0 && smooth === 'floor') {
      hits = smoothValue
    }
    logs.push(Math.log(hits / all))
  }
  return { logs, reached: logs.length }
}
