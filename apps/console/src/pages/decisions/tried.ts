import type { ApprovalRule, Entry, Policy } from '@remit/contract'
import { reasonFacts } from '@remit/contract/lists'
import { matchesAll, matchesPattern } from '@remit/contract/patterns'
import type { Outcome } from '../../texts/decisions.ts'

/** A rule as an entry records it. */
export interface Matched {
  readonly kind: string
  readonly id: string
  readonly revision?: number
}

/** A rule that names the agent and the action of a decision. */
export interface Tried extends Matched {
  readonly kind: 'policy' | 'approval_rule'
  readonly name: string | null
  readonly outcome: Outcome
}

export interface RulesThen {
  /** Those of now, and those that were deleted since the decision. */
  readonly policies: readonly Policy[]
  readonly approvalRules: readonly ApprovalRule[]
}

/** The part of the policies. A reason of a newer server is as one that names no place. */
const partOf = (reason: string | null) => reasonFacts(reason)?.policies ?? 'unnamed'

type Rule = Pick<Policy, 'agents' | 'actions' | 'resources' | 'condition' | 'enabled'> &
  Partial<Pick<Policy, 'not_before' | 'expires_at'>> & {
    readonly created_at: string
    readonly updated_at: string
  }

const matchesAny = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) => matchesPattern(pattern, text))

/**
 * The rules that named the agent and action of a decision beside those that it records as matching, and what
 * follows for each from the record: no rule is evaluated again. Also counts the rules for other agents or actions. Pure.
 */
export function triedOf(
  decision: Entry,
  matched: readonly Matched[],
  { policies, approvalRules }: RulesThen,
): { readonly tried: readonly Tried[]; readonly others: number } {
  const { agent_id, action, reason } = decision
  const at = decision.recorded_at
  const existed = ({ created_at, enabled, not_before = null, expires_at = null, ...rule }: Rule) =>
    created_at < at &&
    (rule.updated_at >= at ||
      (enabled &&
        !(not_before !== null && at < not_before) &&
        !(expires_at !== null && at >= expires_at)))
  const isNamed = ({ agents, actions }: Rule) =>
    matchesAny(agents, agent_id ?? '') && matchesAny(actions, action ?? '')
  const isMatched = (kind: string, id: string) =>
    matched.some((one) => one.kind === kind && one.id === id)
  const all = [
    ...policies.map((rule) => ({
      kind: 'policy' as const,
      id: rule.id,
      name: rule.description,
      rule: rule as Rule,
      outcome: policyOutcome(reason, matched, rule),
    })),
    ...approvalRules.map((rule) => ({
      kind: 'approval_rule' as const,
      id: rule.id,
      name: rule.description,
      rule: rule as Rule,
      outcome: approvalOutcome(reason),
    })),
  ].filter(({ kind, id, rule }) => existed(rule) && !isMatched(kind, id))
  const tried = all.flatMap(({ rule, outcome, ...one }) =>
    isNamed(rule)
      ? [
          {
            ...one,
            outcome:
              rule.updated_at >= at
                ? ('changed' as const)
                : (outcome ?? mismatchOf(rule, decision)),
          },
        ]
      : [],
  )
  return { tried, others: all.length - tried.length }
}

/** Null: the policy was tried and did not match. */
function policyOutcome(
  reason: string | null,
  matched: readonly Matched[],
  { effect }: Policy,
): Outcome | null {
  const part = partOf(reason)
  if (part === 'unnamed') return 'unknown'
  if (part === 'before') return 'before'
  // The first deny that matches, or else whose condition fails, ends the evaluation.
  if (reason === 'policy_deny' || reason === 'policy_error') return 'denied'
  const hasAllow = matched.some(({ kind }) => kind === 'policy')
  return effect === 'allow' && hasAllow ? 'decided' : null
}

/** Null: the rule was tried and did not match. All of them are, where the policies let a request pass. */
function approvalOutcome(reason: string | null): Outcome | null {
  const part = partOf(reason)
  if (part === 'unnamed') return 'unknown'
  return part === 'before' || part === 'denied' ? part : null
}

/** Why a rule that names the agent and the action did not match. */
function mismatchOf({ resources, condition }: Rule, { resource }: Entry): Outcome {
  const isForAll = resources.some(matchesAll)
  if (isForAll) return condition === null ? 'unknown' : 'condition'
  return condition === null || resource === null ? 'resource' : 'either'
}
