import { SLOTS, TEAM_SLOTS } from './slots.ts'
import type { Slot } from './slots.ts'
import type { Ask, Stage, StageVerdict } from './stage.ts'

/** The verdict of a stage by its rules alone, or the error that it failed with; then it denies. */
export interface StageResult {
  readonly verdict: StageVerdict
  readonly error?: unknown
}

/** One request with the verdicts of its rules, before anything is read for it. */
export interface Judged {
  readonly ask: Ask
  readonly said: ReadonlyMap<Slot, StageResult>
  /** Null if no stage found a match. */
  readonly matched: ReadonlyMap<Slot, unknown> | null
}

/** A stage with its rules, or marked as unavailable. */
export interface Ruled {
  readonly stage: Stage
  readonly snapshot: unknown
  readonly available: boolean
}

/** Returns true if the plan of the caller includes the stage of a slot. */
export const isInPlan = (ask: Ask, slot: Slot): boolean =>
  ask.plan === 'enterprise' || TEAM_SLOTS.has(slot)

/** Returns the verdict of a stage. A stage that is unavailable or throws denies. */
export function verdictOf(ask: Ask, stage: Stage, state: unknown, available: boolean): StageResult {
  const denied: StageVerdict = { verdict: 'deny', ...stage.unavailable }
  if (!available) return { verdict: denied }
  try {
    return { verdict: stage.decide(ask, state) }
  } catch (error) {
    return { verdict: denied, error: error ?? new Error('the stage threw no value') }
  }
}

/**
 * Evaluates all conditions for one request, in the order of the slots, up to the first stage that does
 * not pass. Pure.
 */
export function judge(ask: Ask, stages: ReadonlyMap<Slot, Ruled>): Judged {
  const said = new Map<Slot, StageResult>()
  let matched: Map<Slot, unknown> | null = null
  for (const slot of SLOTS) {
    const ruled = stages.get(slot)
    if (!ruled || !isInPlan(ask, slot)) continue
    const { stage, snapshot, available } = ruled
    if (!stage.prepare || !available) {
      const one = verdictOf(ask, stage, snapshot, available)
      said.set(slot, one)
      if (one.verdict.verdict !== 'pass') break
    } else if (stage.match) {
      try {
        const found = stage.match(ask, snapshot)
        if (found !== undefined) (matched ??= new Map()).set(slot, found)
      } catch (error) {
        said.set(slot, { verdict: { verdict: 'deny', ...stage.unavailable }, error })
        break
      }
    }
  }
  return { ask, said, matched }
}
