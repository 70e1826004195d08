import { overlap, total, union, wordGrams } from './grams.ts'

export interface BleuOptions {
  readonly smooth: 'exp' | 'floor' | 'add_k' | 'none'
  /** Of `floor` and `add_k`. */
  readonly smoothValue: number
  /** Only the orders that the text is long enough for count; for single sentences. */
  readonly effectiveOrder: boolean
}

/** `[length, reference length, matches of order 1…n, n-grams of order 1…n]`; they add up. */
export type BleuCounts = readonly number[]

/** What BLEU is computed from. Several references are one: each n-gram as often as the best has it. */
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

/** BLEU from 0 to 1, as sacrebleu computes it. */
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
    // What add-k adds to an order also keeps an order without n-grams from ending the row.
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
