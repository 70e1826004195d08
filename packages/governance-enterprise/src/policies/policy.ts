import type { Policy, PolicyInput } from '@remit/contract'
import { isoTime } from '@remit/core/base'
import { conditionOf } from '../rules/condition.ts'
import type { Condition } from '../rules/condition.ts'
import { sharedList } from '../rules/direct.ts'
import type { Rule } from '../rules/rule-index.ts'
import { isBroad } from '../rules/rule-index.ts'
import type { PolicyRuleRow } from '../tables/policies.ts'

/** The maximum number of broad rules per organization: each is evaluated for every request. */
export const MAX_BROAD_RULES = 1_000

/** A compiled policy rule. */
export interface PolicyRule extends Rule {
  readonly effect: 'allow' | 'deny'
  readonly description: string | null
  /** Null for a rule that is not stored. */
  readonly revision: number | null
}

type Version = Pick<PolicyRuleRow, 'org_id' | 'id' | 'created_at' | 'created_by'> &
  Pick<PolicyRuleRow, 'updated_at' | 'revision'>

/** The row of a version of a rule; times have milliseconds. */
export function toRow(input: PolicyInput, made: Version): PolicyRuleRow {
  return {
    ...made,
    effect: input.effect,
    agents: JSON.stringify(input.agents),
    actions: JSON.stringify(input.actions),
    resources: JSON.stringify(input.resources),
    condition: input.condition,
    description: input.description,
    enabled: input.enabled && input.mode === 'enforce' ? 1 : 0,
    observed: input.mode === 'observe' ? 1 : 0,
    broad: isBroad(input) ? 1 : 0,
    not_before: input.not_before && isoTime(Date.parse(input.not_before)),
    expires_at: input.expires_at && isoTime(Date.parse(input.expires_at)),
  }
}

/** The members of a rule that its two flags store. Where an older release left both, it is enforced. */
export const modeOf = (
  enforced: boolean,
  observed: boolean,
): Pick<PolicyInput, 'enabled' | 'mode'> => ({
  enabled: enforced || observed,
  mode: observed && !enforced ? 'observe' : 'enforce',
})

/** A stored rule in API form. */
export function toPolicy(row: PolicyRuleRow): Policy {
  return {
    id: row.id,
    description: row.description,
    effect: row.effect,
    agents: JSON.parse(row.agents) as string[],
    actions: JSON.parse(row.actions) as string[],
    resources: JSON.parse(row.resources) as string[],
    condition: row.condition,
    ...modeOf(row.enabled === 1, row.observed === 1),
    not_before: row.not_before,
    expires_at: row.expires_at,
    created_at: row.created_at,
    created_by: row.created_by,
    updated_at: row.updated_at ?? row.created_at,
    revision: row.revision,
  }
}

const time = (text: string | null): number | null => (text === null ? null : Date.parse(text))

/** A stored rule whose condition is compiled on first use. */
export const toRule = (row: PolicyRuleRow): PolicyRule => {
  const condition = row.condition === null ? null : conditionOf(row.condition)
  return ruleOf(toPolicy(row), row.id, condition, row.revision)
}

/** The rule of a validated input. */
export const ruleOf = (
  input: Omit<PolicyInput, 'enabled' | 'mode' | 'condition'>,
  id: string,
  condition: Condition | null,
  revision: number | null = null,
): PolicyRule => ({
  // Fields that decisions read come first, adjacent in memory.
  effect: input.effect,
  condition,
  id,
  description: input.description,
  revision,
  agents: sharedList(input.agents),
  actions: sharedList(input.actions),
  resources: sharedList(input.resources),
  notBefore: time(input.not_before),
  expiresAt: time(input.expires_at),
})
