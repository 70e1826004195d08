import { PolicyInput } from '@remit/contract'
import { invalidInput } from '@remit/core'
import type { Overlay } from '@remit/core'
import { z } from 'zod'
import { admitCondition } from '../rules/admit-condition.ts'
import { ruleOf } from './policy.ts'
import type { PolicyRule } from './policy.ts'
import type { OverlaidRules } from './snapshot.ts'

const Overlaid = z.object({ overlay: z.object({ add: z.array(PolicyInput) }) })

/** A rule of an overlay, by the name that answers have for it. */
export interface CandidateRule {
  readonly rule: PolicyRule
  readonly enabled: boolean
}

/** The rules that an overlay adds, checked as if they were to be created. */
export function candidateRules({ add }: Overlay): CandidateRule[] {
  const { error, data } = Overlaid.safeParse({ overlay: { add } })
  if (error) throw invalidInput(error)
  return data.overlay.add.map((input, i) => {
    const condition = admitCondition(input.condition, `overlay.add.${i}.condition`)
    return { rule: ruleOf(input, `overlay.${i}`, condition), enabled: input.enabled }
  })
}

/** An overlay for the rules that count. */
export const overlaidRules = (overlay: Overlay): OverlaidRules => ({
  add: candidateRules(overlay).flatMap(({ rule, enabled }) => (enabled ? [rule] : [])),
  remove: overlay.remove,
  defaultEffect: overlay.default_effect,
})
