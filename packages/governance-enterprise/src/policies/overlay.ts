import { PolicyInput } from '@remit/contract'
import type { RuleMode } from '@remit/contract'
import { checkShape } from '@remit/core/base'
import type { Overlay } from '@remit/core/decision'
import { z } from 'zod'
import { admitCondition } from '../rules/admit-condition.ts'
import { ruleOf } from './policy.ts'
import type { PolicyRule } from './policy.ts'
import type { OverlaidRules } from './evaluate.ts'

const Overlaid = z.object({ overlay: z.object({ add: z.array(PolicyInput) }) })

const PREFIX = 'overlay.'

/** The rules after the changes of a plan, as an overlay of those in force. */
export interface PlannedRules {
  readonly overlay: Overlay
  /** The names of the policies that the overlay adds, in order. */
  readonly added: readonly string[]
}

/** A rule of an overlay, with its name in responses. */
export interface CandidateRule {
  readonly rule: PolicyRule
  readonly enabled: boolean
  readonly mode: RuleMode
}

/**
 * The name of a policy that an overlay adds, by the names of all of them. Other policies keep their id: only they have
 * a revision, and one of them may be called `overlay.0`.
 */
export const nameIn = (
  added: readonly string[],
  { id, revision }: { readonly id: string; readonly revision?: number | null | undefined },
): string => (typeof revision === 'number' ? id : (added[Number(id.slice(PREFIX.length))] ?? id))

/** Caches compiled overlays: compilation is slow, and an overlay is used repeatedly. */
const compiled = new WeakMap<Overlay, readonly CandidateRule[]>()

/**
 * Compiles the rules that an overlay adds, validated like new rules. `rest` is called between rules
 * to yield the thread.
 */
export async function admitCandidates(
  overlay: Overlay,
  rest: () => Promise<void>,
): Promise<readonly CandidateRule[]> {
  const rules: CandidateRule[] = []
  for (const [i, input] of inputsOf(overlay).entries()) {
    rules.push(candidateRule(input, i))
    await rest()
  }
  compiled.set(overlay, rules)
  return rules
}

/** Synchronous, if they were not compiled before. */
const candidateRules = (overlay: Overlay): readonly CandidateRule[] =>
  compiled.get(overlay) ?? inputsOf(overlay).map(candidateRule)

function inputsOf({ add }: Overlay): PolicyInput[] {
  return checkShape(Overlaid, { overlay: { add } }).overlay.add
}

function candidateRule(input: PolicyInput, i: number): CandidateRule {
  const condition = admitCondition(input.condition, `overlay.add.${i}.condition`)
  const { enabled, mode } = input
  return { rule: ruleOf(input, `${PREFIX}${i}`, condition), enabled, mode }
}

/** Applies an overlay to the rules in force. */
export function overlaidRules(overlay: Overlay): OverlaidRules {
  const enabled = candidateRules(overlay).filter((candidate) => candidate.enabled)
  const rulesIn = (mode: RuleMode) =>
    enabled.flatMap((candidate) => (candidate.mode === mode ? [candidate.rule] : []))
  return {
    add: rulesIn('enforce'),
    observe: rulesIn('observe'),
    remove: overlay.remove,
    defaultEffect: overlay.default_effect,
  }
}
