import type { ApprovalRule, ApprovalRuleInput, RuleMode } from '@remit/contract'
import { invalid } from '@remit/core/base'
import type { Ask, Meter, Observer, Overlay } from '@remit/core/decision'
import { compileCondition, conditionOf, ConditionError } from '../rules/condition.ts'
import { modeOf } from '../policies/policy.ts'
import { patternWarnings } from '../rules/lint.ts'
import { matchesOf, RuleIndex } from '../rules/rule-index.ts'
import type { Rule } from '../rules/rule-index.ts'
import { covers } from './requirements.ts'
import type { Requirement, ApprovalRequester, Parties, ApprovalVote } from './requirements.ts'
import type { ApprovalRuleRow } from '../tables/approvals.ts'
import { isCoolingDown, statusAt } from './lifecycle.ts'
import type { TimedStatus } from './lifecycle.ts'

export interface CompiledApprovalRule extends Rule {
  readonly requirement: Requirement
  readonly requestTtlSeconds: number
  readonly approvalTtlSeconds: number
  readonly cooldownSeconds: number
  /** Context members that an approval binds; null means all. */
  readonly bindingContext: readonly string[] | null
}

/** Rules of earlier versions do not have `comment_to_agent`. */
type StoredRule = Omit<ApprovalRuleInput, 'mode' | 'comment_to_agent'> & {
  readonly comment_to_agent?: boolean
}

/** The columns of a row that store a rule. */
export const storedRule = ({ mode, ...rule }: ApprovalRuleInput) => ({
  document: JSON.stringify({ ...rule, enabled: rule.enabled && mode === 'enforce' }),
  observed: mode === 'observe' ? 1 : 0,
})

function documentOf(row: ApprovalRuleRow): ApprovalRuleInput {
  const stored = JSON.parse(row.document) as StoredRule
  return {
    ...stored,
    comment_to_agent: stored.comment_to_agent ?? false,
    ...modeOf(stored.enabled, row.observed === 1),
  }
}

/** The rules that are enabled, by their mode. */
export type RulesByMode = Readonly<Record<RuleMode, readonly CompiledApprovalRule[]>>

/** The rules of rows that are enabled. */
export const rulesByMode = (rows: readonly ApprovalRuleRow[]): RulesByMode =>
  enabledRules(rows.map((row) => ({ id: row.id, ...documentOf(row) })))

/** The rules with those of an overlay. */
export function overlaidRules(rules: RulesByMode, overlay: Overlay | null): RulesByMode {
  if (!overlay?.approval_rules) return rules
  const { set, remove } = overlay.approval_rules
  const gone = new Set([...remove, ...set.map(({ id }) => id)])
  const added = enabledRules(set)
  const all = (mode: RuleMode) => [...rules[mode].filter(({ id }) => !gone.has(id)), ...added[mode]]
  return { enforce: all('enforce'), observe: all('observe') }
}

type NamedRule = ApprovalRuleInput & { readonly id: string }

function enabledRules(inputs: readonly NamedRule[]): RulesByMode {
  const rules = { enforce: [] as CompiledApprovalRule[], observe: [] as CompiledApprovalRule[] }
  for (const rule of inputs) if (rule.enabled) rules[rule.mode].push(compiledRule(rule))
  return rules
}

/** Returns what the observed rules would decide, as a function of the request; null without such rules. */
export function observeApprovals(rules: readonly CompiledApprovalRule[]): Observer | null {
  if (rules.length === 0) return null
  const index = RuleIndex.of(rules)
  return (ask, meter) =>
    [...matchesOf(index, ask, meter)].map(([{ id }, result]) => ({
      kind: 'approval_rule',
      id,
      would: result === 'error' ? result : 'needs_approval',
    }))
}

/** The rule of a validated input. */
export function compiledRule(rule: NamedRule): CompiledApprovalRule {
  return {
    id: rule.id,
    agents: rule.agents,
    actions: rule.actions,
    resources: rule.resources,
    condition: rule.condition === null ? null : conditionOf(rule.condition),
    notBefore: null,
    expiresAt: null,
    requirement: {
      rule_id: rule.id,
      description: rule.description,
      required: rule.required_approvals,
      required_rejections: rule.required_rejections,
      approvers: rule.approvers,
      prevent_self_approval: rule.prevent_self_approval,
      reason_required: rule.reason_required,
      ...(rule.comment_to_agent && { comment_to_agent: true }),
    },
    requestTtlSeconds: rule.request_ttl_seconds,
    approvalTtlSeconds: rule.approval_ttl_seconds,
    cooldownSeconds: rule.rejection_cooldown_seconds,
    bindingContext: rule.binding_context,
  }
}

/** The rule of a row in API form. */
export const wireRule = (row: ApprovalRuleRow): ApprovalRule => ({
  id: row.id,
  ...documentOf(row),
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
})

/**
 * The rules that match a reading of the request, in order of id. Those that match only because their
 * condition failed say so in their requirement.
 */
export function matching(
  rules: RuleIndex<CompiledApprovalRule>,
  ask: Ask,
  meter?: Meter,
): readonly CompiledApprovalRule[] {
  return [...matchesOf(rules, ask, meter)]
    .map(([rule, result]) => (result === true ? rule : failedOf(rule)))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

const failedOf = (rule: CompiledApprovalRule): CompiledApprovalRule => ({
  ...rule,
  requirement: { ...rule.requirement, condition_failed: true },
})

/**
 * Refuses a rule that cannot be evaluated or that binds fewer members than it reads; returns
 * warnings.
 */
export function checkRule(rule: ApprovalRuleInput): string[] {
  const { condition, binding_context, approvers } = rule
  const warnings = [...unknownRoles(approvers?.roles ?? []), ...patternWarnings(rule)]
  if (condition === null) return warnings
  const { reads, warnings: more } = compiled(condition)
  if (reads !== 'all' && reads.has('approval'))
    throw invalid('condition', 'reads context.approval, which only refers to an approval')
  if (binding_context !== null) {
    if (reads === 'all')
      throw invalid('binding_context', 'must be null: the condition may read the whole context')
    const missing = [...reads].filter((name) => !binding_context.includes(name))
    if (missing.length > 0)
      throw invalid(
        'binding_context',
        `must include the fields that the condition reads: ${missing.join(', ')}`,
      )
  }
  return [...warnings, ...more.deny]
}

function compiled(condition: string) {
  try {
    return compileCondition(condition)
  } catch (error) {
    if (error instanceof ConditionError) throw invalid('condition', error.message)
    throw error
  }
}

const DECIDING = ['admin', 'approver']

const unknownRoles = (roles: readonly string[]): string[] =>
  roles
    .filter((role) => !DECIDING.includes(role))
    .map(
      (role) => `no key that can decide has the role ${role}; the roles are ${DECIDING.join(', ')}`,
    )

/** The maximum number of pending requests of an agent; more of them would exhaust the approvers. */
export const MAX_PENDING = 50

/** An earlier request with the same binding. */
export interface EarlierRequest extends TimedStatus {
  readonly id: string
  readonly bound: readonly string[] | null
  readonly requirements: readonly Requirement[]
  readonly votes: readonly ApprovalVote[]
  readonly parties: Parties
}

/** The requirements of the current rules, and the existing requests of the agent. */
export interface ApprovalQuery<E extends EarlierRequest> {
  readonly requirements: readonly Requirement[]
  readonly bound: readonly string[] | null
  readonly earlier: readonly E[]
  readonly pending: number
  /** The requesting key. Its own vote, and that of its person, do not count. */
  readonly asker: ApprovalRequester | null
  /** The approval that the request refers to. */
  readonly reference: string | null
  /** Milliseconds. */
  readonly now: number
}

type ApprovalResult<E extends EarlierRequest> =
  | { readonly is: 'approved'; readonly by: E }
  | { readonly is: 'rejected'; readonly by: E }
  | { readonly is: 'pending'; readonly by: E }
  | { readonly is: 'backlog' }
  | { readonly is: 'new' }

/**
 * Returns the state of a request that requires an approval. A rejection takes precedence: it is
 * newer than any approval of the same binding that the current rules no longer accept.
 */
export function evaluateApproval<E extends EarlierRequest>(
  question: ApprovalQuery<E>,
): ApprovalResult<E> {
  const { requirements, bound, pending, asker, reference, now } = question
  const earlier = question.earlier.filter((one) => isSame(one.bound, bound))
  const rejected = earlier.find((one) => isCoolingDown(one, now))
  if (rejected) return { is: 'rejected', by: rejected }
  const usable = earlier.filter(
    (one) =>
      statusAt(one, now) === 'approved' &&
      covers(one.requirements, one.votes, partiesWith(one.parties, asker), requirements),
  )
  const approved = usable.find((one) => one.id === reference) ?? usable[0]
  if (approved) return { is: 'approved', by: approved }
  const open = earlier.find((one) => statusAt(one, now) === 'pending')
  if (open) return { is: 'pending', by: open }
  return { is: pending >= MAX_PENDING ? 'backlog' : 'new' }
}

const partiesWith = (parties: Parties, asker: ApprovalRequester | null): Parties =>
  asker === null ? parties : { ...parties, askers: [...parties.askers, asker] }

const isSame = (a: readonly string[] | null, b: readonly string[] | null): boolean =>
  JSON.stringify(a) === JSON.stringify(b)
