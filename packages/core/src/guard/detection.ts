import type { GuardFinding } from '@remit/contract'
import type { CategoryId } from './categories.ts'
import type { Term } from './model/model.ts'
import type { ViewName } from './view.ts'

/** Something a detector found. Positions are UTF-16 indices into the original text. */
export interface Detection {
  readonly detector: string
  readonly category: CategoryId
  readonly severity: GuardFinding['severity']
  readonly start: number
  readonly end: number
  readonly view: ViewName
  /** What stands there as the detector read it, where the original shows something else. */
  readonly decoded?: string
  /** How the answer's `reasons` name it: `secret:jwt`. */
  readonly reason: string
  /** How sure this is to be an attack, 0 to 1. Not for what is cured by taking it out. */
  readonly risk?: number
  /** What weighed most in a judgement of the model, if asked for. */
  readonly terms?: readonly Term[]
  /** What redaction puts in its place; absent for what redaction leaves. */
  readonly replacement?: string
}

const WINDOW = 2_000
// Certainty would have no logarithm; rounding gives it back.
const ALMOST_SURE = 1 - 1e-9

/**
 * The risk of a text: that of its signatures together, or that of the model where it is surer. The
 * model has seen the signatures, so its word is not one more hint beside theirs.
 */
export function riskOf(detections: readonly Detection[]): number {
  const [judged = [], others = []] = [true, false].map((ofModel) =>
    detections.filter(({ detector }) => detector.startsWith('model.') === ofModel),
  )
  // A long text is judged in thousands of stretches, too many for the arguments of a call.
  return judged.reduce((most, { risk = 0 }) => Math.max(most, risk), pooledRisk(others))
}

/**
 * The risk of the riskiest stretch of 2,000 UTF-16 units: 1 − Π(1 − risk) over the detectors that
 * fire in it, each counted once. Over a whole book, harmless coincidences would add up.
 */
export function pooledRisk(detections: readonly Detection[]): number {
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
  return round(1 - Math.exp(least))
}

/** The detectors inside the window, and the logarithm of the chance that all of them err. */
class Window {
  log = 0
  readonly #inside = new Map<string, { count: number; log: number }>()

  enter({ detector, risk = 0 }: Detection): void {
    const log = Math.log1p(-Math.min(risk, ALMOST_SURE))
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

/** To four decimals; more would claim a precision that the weights do not have. */
const round = (risk: number): number => Math.round(risk * 1e4) / 1e4
