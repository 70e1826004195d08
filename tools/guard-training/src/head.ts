import { bestStretch, share } from '@remit/core/guard/internals'

/** A text as a head learns from it: features by token, as `Features` has them. */
export interface Example {
  readonly attack: boolean
  readonly ids: Uint32Array
  readonly ends: Uint32Array
  readonly tokens: number
  /** The tokens at which the sentences of a document begin. */
  readonly sentences?: Int32Array | undefined
}

/** One linear head before it is rounded to bytes. */
export interface TrainedHead {
  readonly weights: Float32Array
  readonly bias: number
}

export interface Settings {
  readonly bits: number
  readonly seed: number
  readonly epochs: number
  readonly rate: number
  /** The share of the features that each update leaves out, in steps of 1/256. */
  readonly leftOut: number
}

/** Runs over the examples, each in an order of its own; their mean owes less to chance than one does. */
const RUNS = 3

/** The mean of several heads that learned the same examples in different orders. */
export function trainHead(examples: readonly Example[], settings: Settings): TrainedHead {
  const weights = new Float32Array(1 << settings.bits)
  let bias = 0
  for (let run = 0; run < RUNS; run++) {
    const head = trainOnce(examples, { ...settings, seed: settings.seed * RUNS + run })
    for (const [i, weight] of head.weights.entries()) weights[i] = (weights[i] ?? 0) + weight / RUNS
    bias += head.bias / RUNS
  }
  return { weights, bias }
}

/**
 * Logistic regression by AdaGrad, where of every text only the stretch that looks most like an
 * attack counts: a document is an attack if any part of it is, and harmless only if all of it is.
 */
function trainOnce(examples: readonly Example[], settings: Settings): TrainedHead {
  const { bits, epochs, rate } = settings
  const leftOut = Math.round(settings.leftOut * 256)
  const kept = 1 - leftOut / 256
  const weights = new Float32Array(1 << bits)
  const squares = new Float32Array(1 << bits).fill(1e-3)
  const random = randomOf(settings.seed)
  const order = Uint32Array.from(examples.keys())
  let bias = 0
  let biasSquares = 1e-3
  let sums = new Float64Array(1024)
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, random)
    const step = rate * (1 - (0.8 * epoch) / epochs)
    for (const index of order) {
      const example = examples[index]
      if (!example) continue
      const { ids, ends, tokens, sentences, attack } = example
      if (sums.length <= tokens) sums = new Float64Array(tokens * 2)
      const choice = { key: Math.floor(random() * 4_294_967_296), share: leftOut }
      addUp(weights, ids, ends, tokens, sums, choice)
      const { score, start, end } = bestStretch(sums, ends, tokens, tokens, sentences)
      const error = 1 / (1 + Math.exp(-(score + bias))) - (attack ? 1 : 0)
      if (Math.abs(error) < 1e-4) continue
      const from = ends[start] ?? 0
      const to = ends[end] ?? 0
      const gradient = (error * share(to - from)) / kept
      for (let i = from; i < to; i++) {
        const id = ids[i] ?? 0
        if (isLeftOut(id, choice)) continue
        const weight = weights[id] ?? 0
        const slope = gradient + 1e-6 * weight
        const square = (squares[id] ?? 0) + slope * slope
        squares[id] = square
        weights[id] = weight - (step * slope) / Math.sqrt(square)
      }
      biasSquares += error * error
      bias -= (0.1 * step * error) / Math.sqrt(biasSquares)
    }
  }
  return { weights, bias }
}

/** The features that an update leaves out: `share` of 256, another choice for each `key`. */
interface LeftOut {
  readonly key: number
  readonly share: number
}

const NONE: LeftOut = { key: 0, share: 0 }

/** The same feature is left out wherever it stands in the text. */
function isLeftOut(id: number, { key, share: ofAll }: LeftOut): boolean {
  const mixed = Math.imul(id ^ key, 0x9e3779b1)
  return Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 24 < ofAll
}

/** Running sums of a text's weights by token, into `sums`; the others stand in for what is left out. */
export function addUp(
  weights: Float32Array | Int8Array,
  ids: Uint32Array,
  ends: Uint32Array,
  tokens: number,
  sums: Float64Array,
  leftOut = NONE,
): void {
  const kept = 1 - leftOut.share / 256
  let sum = 0
  let at = 0
  sums[0] = 0
  for (let i = 1; i <= tokens; i++) {
    const end = ends[i] ?? 0
    for (; at < end; at++) {
      const id = ids[at] ?? 0
      if (!isLeftOut(id, leftOut)) sum += weights[id] ?? 0
    }
    sums[i] = sum / kept
  }
}

/** Numbers in [0, 1) that a seed fixes; mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function shuffle(order: Uint32Array, random: () => number): void {
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const swapped = order[i] ?? 0
    order[i] = order[j] ?? 0
    order[j] = swapped
  }
}

/** A head in bytes, with what one step of them is worth. */
export interface RoundedHead {
  readonly bytes: Int8Array
  readonly scale: number
  readonly bias: number
}

/** Weights beyond the 99.95th percentile are cut; the few that are do not need to be exact. */
export function roundHead({ weights, bias }: TrainedHead): RoundedHead {
  const sizes = weights
    .map(Math.abs)
    .filter((size) => size > 1e-6)
    .toSorted()
  const largest = sizes[Math.floor(sizes.length * 0.9995)] ?? 1
  const scale = largest / 127
  const bytes = Int8Array.from(weights, (weight) =>
    Math.max(-127, Math.min(127, Math.round(weight / scale))),
  )
  return { bytes, scale, bias }
}

/** One of a list. */
export const pick = <T>(list: readonly T[], random: () => number): T => {
  const chosen = list[Math.floor(random() * list.length)]
  if (chosen === undefined) throw new Error('there is nothing to pick from')
  return chosen
}
