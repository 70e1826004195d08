import type { GuardFinding } from '@remit/contract'
import type { CategoryId } from './categories.ts'
import type { Term } from './model/model.ts'
import type { ViewName } from './view.ts'

/** A match of a detector. Positions are UTF-16 indices into the original text. */
export interface Detection {
  readonly detector: string
  readonly category: CategoryId
  readonly severity: GuardFinding['severity']
  readonly start: number
  readonly end: number
  readonly view: ViewName
  /** The text as the detector read it, if the original differs. */
  readonly decoded?: string
  /** The code in `reasons`: `secret:jwt`. */
  readonly reason: string
  /** Probability of an attack, 0 to 1. Not for detections that redaction fixes. */
  readonly risk?: number
  /** Set for a signature that the model does not agree with: it does not block. */
  readonly alone?: true
  /** The largest weights of a judgement of the model, on request. */
  readonly terms?: readonly Term[]
  /** The replacement for redaction; absent if redaction keeps the text. */
  readonly replacement?: string
}

const WINDOW = 2_000
/** The highest risk of signatures that the model does not agree with; flags, also at `high`. */
const NOT_BLOCKING = 0.64

/**
 * Returns the risk of a text: that of its signatures together, or that of the model if it is
 * higher. Not combined, because the model uses the signatures as features.
 */
export function riskOf(detections: readonly Detection[]): number {
  const [judged = [], others = []] = [true, false].map((ofModel) =>
    detections.filter(({ detector }) => detector.startsWith('model.') === ofModel),
  )
  // A long text has thousands of stretches, too many for the arguments of a call.
  const confirmed = pooledRisk(others.filter(({ alone }) => !alone))
  const signed = Math.max(confirmed, Math.min(NOT_BLOCKING, pooledRisk(others)))
  return judged.reduce((most, { risk = 0 }) => Math.max(most, risk), signed)
}

/**
 * Returns the highest risk of a window of 2,000 UTF-16 units: 1 − Π(1 − risk) over the detectors in
 * it, each counted once. Over a whole book, harmless coincidences would add up.
 */
export function pooledRisk(detections: readonly Detection[]): number {
  // A planted canary is certain, and certainty has no logarithm.
  if (detections.some(({ risk }) => risk === 1)) return 1
  const risky = detections.filter(({ risk = 0 }) => risk > 0).toSorted((a, b) => a.start - b.start)
  const window = new Window()
  let least = 0
  let first = 0
  for (const detection of risky) {
    for (; first < risky.length; first++) {
      const oldest = risky[first]
      if (!oldest || oldest.start > detection.start - WINDOW) break
      window.leave(oldest)
    }
    window.enter(detection)
    least = Math.min(least, window.log)
  }
  return roundShare(1 - Math.exp(least))
}

/**
 * The detectors inside the window, and the logarithm of the probability that all of them are wrong.
 */
class Window {
  log = 0
  readonly #inside = new Map<string, { count: number; log: number }>()

  enter({ detector, risk = 0 }: Detection): void {
    const log = Math.log1p(-risk)
    const known = this.#inside.get(detector) ?? { count: 0, log: 0 }
    this.log += Math.min(log, known.log) - known.log
    this.#inside.set(detector, { count: known.count + 1, log: Math.min(log, known.log) })
  }

  leave({ detector }: Detection): void {
    const known = this.#inside.get(detector)
    if (!known) return
    if (known.count > 1) this.#inside.set(detector, { ...known, count: known.count - 1 })
    else {
      this.log -= known.log
      this.#inside.delete(detector)
    }
  }
}

/**
 * Rounds a share for a response: to four decimals, and above 0.99 to three significant digits of its
 * distance from 1, at least 1e-15. Monotone; never 1.
 */
export function roundShare(exact: number): number {
  const rest = 1 - exact
  if (rest >= 0.01) return Math.round(exact * 1e4) / 1e4
  return 1 - Math.max(1e-15, Number(rest.toPrecision(3)))
}
