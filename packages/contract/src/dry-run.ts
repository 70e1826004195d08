import { z } from 'zod'
import { ApprovalRuleInput } from './approvals.ts'
import {
  AuthorizeRequest,
  budgetFacts,
  Decision,
  Match,
  Replaced,
  replacedResolve,
} from './authorize.ts'
import { AgentMode, PermissionInput } from './delegation.ts'
import { BudgetInput } from './budgets.ts'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { SETTINGS } from './organization.ts'
import { PolicyInput } from './policies.ts'
import {
  Action,
  AgentId,
  component,
  FreeForm,
  integer,
  PathId,
  Resource,
  strictComponent,
  Timestamp,
} from './primitives.ts'
import { Reason } from './reasons.ts'
import { observations } from './rules.ts'
import { SpendLimitInput } from './spend-limits.ts'

export const MAX_DRY_RUNS = 1_000
/** Maximum decisions per replay. */
export const MAX_REPLAYED = 100_000

const MAX_SET = 1_000
const MAX_REMOVED = 10_000

/** Objects to be created or replaced, and names of those to be deleted. */
const objects = <Input extends z.ZodType, Key extends z.ZodType>(input: Input, key: Key) =>
  z.strictObject({
    set: z.array(input).max(MAX_SET).default([]).describe('to be created, or replaced as a whole'),
    remove: z.array(key).max(MAX_REMOVED).default([]).describe('to be deleted'),
  })

/** Rules to try: those to create, and those to delete. Without `add` and `remove`: of other kinds. */
export const PolicyOverlay = strictComponent('PolicyOverlay', {
  add: z.array(PolicyInput).max(MAX_SET).default([]).describe('policy rules to be created'),
  remove: z
    .array(PathId)
    .max(MAX_REMOVED)
    .default([])
    .describe('ids of policy rules to be deleted'),
  default_effect: z
    .enum(['allow', 'deny'], 'must be allow or deny')
    .optional()
    .describe('the decision when no policy matches. Default: the setting of the organization'),
  approval_rules: objects(
    ApprovalRuleInput.safeExtend({ id: PathId }).meta({ id: 'TriedApprovalRule' }),
    PathId,
  )
    .optional()
    .describe('approval rules by their id'),
  permissions: objects(
    PermissionInput.safeExtend({ id: PathId }).meta({ id: 'TriedPermission' }),
    PathId,
  )
    .optional()
    .describe('an allow sets the mode `granted`, and a removal ends what was derived'),
  spend_limits: objects(
    SpendLimitInput.safeExtend({ agent_id: AgentId }).meta({ id: 'TriedSpendLimit' }),
    AgentId,
  )
    .optional()
    .describe('spend limits by their agent'),
  budgets: objects(BudgetInput.safeExtend({ id: PathId }).meta({ id: 'TriedBudget' }), PathId)
    .optional()
    .describe('budgets by their id; a new one has counted nothing. Trees are not checked'),
  agent_modes: z
    .strictObject({
      set: z
        .array(z.strictObject({ agent_id: AgentId, mode: AgentMode }))
        .max(MAX_SET)
        .describe('the mode of each agent'),
    })
    .optional()
    .describe('applied after the permissions'),
  settings: z
    .strictObject({
      unknown_agents: SETTINGS.unknown_agents.unwrap().optional(),
      four_eyes: SETTINGS.four_eyes.unwrap().optional(),
    })
    .optional()
    .describe('settings in place of those of the organization'),
})
export type PolicyOverlay = z.infer<typeof PolicyOverlay>

const ONE_OR_MANY = { anyOf: [{ required: ['action', 'agent_id'] }, { required: ['requests'] }] }

export const DryRunRequest = z
  .strictObject({
    action: Action.optional(),
    agent_id: AgentId.optional(),
    context: FreeForm.optional(),
    replaced: Replaced.optional(),
    resource: Resource.optional(),
    subject: AuthorizeRequest.shape.subject,
    requests: z
      .array(AuthorizeRequest)
      .min(1, 'must have at least one request')
      .max(MAX_DRY_RUNS)
      .optional()
      .describe('several requests instead of one; each is decided independently'),
    at: Timestamp.optional().describe(
      'time of the decision, at most a year from now. Default: now',
    ),
    overlay: PolicyOverlay.optional(),
  })
  .superRefine(({ requests, ...one }, check) => {
    for (const name of [
      'action',
      'agent_id',
      'context',
      'replaced',
      'resource',
      'subject',
    ] as const) {
      if (requests !== undefined && one[name] !== undefined)
        check.addIssue({
          code: 'custom',
          path: [name],
          message: 'must not be combined with requests',
        })
      const isNeeded = name === 'action' || name === 'agent_id'
      if (requests === undefined && isNeeded && one[name] === undefined)
        check.addIssue({ code: 'custom', path: [name], message: 'is required' })
    }
  })
  .check(replacedResolve)
  .meta({ id: 'DryRunRequest', ...ONE_OR_MANY })
export type DryRunRequest = z.infer<typeof DryRunRequest>

const Step = z.object({
  stage: z.enum(['agent_deny', 'spend_limit', 'policy', 'approval_rule']),
  verdict: z.enum(['pass', 'deny', 'needs_approval']),
  reason: Reason.optional(),
  message: z.string().optional(),
  matched: z.array(Match).optional(),
})

export const DryRunResult = component('DryRunResult', {
  decision: Decision,
  reason: Reason,
  message: z.string(),
  matched: z.array(Match),
  trace: z.array(Step).describe('the verdict of each stage; the last one decided'),
  ...budgetFacts,
  ...observations,
  warnings: z.array(z.string()),
})
export type DryRunResult = z.infer<typeof DryRunResult>

/** A rule of an overlay, with its name in the response. */
export const TriedRule = component('TriedRule', {
  id: z
    .string()
    .describe(
      '`overlay.0` for the first rule of `overlay.add`, `approval_rules.ID`, `permissions.ID`',
    ),
  warnings: z.array(z.string()),
})
export type TriedRule = z.infer<typeof TriedRule>

const tried = { overlay: z.array(TriedRule), ledger: Receipt }

/** The response to one request, and to many. */
export const DryRunAnswer = z.union([
  DryRunResult.extend({ at: Timestamp, ...tried }).meta({ id: 'DryRun' }),
  component('DryRuns', { results: z.array(DryRunResult), at: Timestamp, ...tried }),
])
export type DryRunAnswer = z.infer<typeof DryRunAnswer>

export const ReplayRequest = z
  .strictObject({
    from: Timestamp.describe('the start of the period'),
    to: Timestamp.describe('the end of the period, exclusive'),
    overlay: PolicyOverlay.optional(),
    max_decisions: integer(1, MAX_REPLAYED)
      .default(MAX_REPLAYED)
      .describe('decisions to replay; `next_cursor` continues after them'),
    limit: integer(0, 1_000)
      .default(100)
      .describe('maximum number of listed flips; all are counted'),
    cursor: z.string().max(512).optional(),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), {
    path: ['to'],
    message: 'must be after from',
  })
  .meta({ id: 'ReplayRequest' })
export type ReplayRequest = z.infer<typeof ReplayRequest>

/** Every change of a decision that policies and approval rules can cause. */
export const FLIPS = [
  'allow_to_deny',
  'needs_approval_to_deny',
  'deny_to_allow',
  'deny_to_needs_approval',
  'allow_to_needs_approval',
  'needs_approval_to_allow',
] as const
export type FlipKind = (typeof FLIPS)[number]

const Count = z.int().min(0)

export const FlipCounts = component('FlipCounts', {
  allow_to_deny: Count,
  needs_approval_to_deny: Count,
  deny_to_allow: Count,
  deny_to_needs_approval: Count,
  allow_to_needs_approval: Count,
  needs_approval_to_allow: Count,
})
export type FlipCounts = z.infer<typeof FlipCounts>

const Side = z.object({
  decision: Decision,
  reason: Reason,
  policy: z.string().nullable().describe('the policy rule that decided; null if none did'),
})

export const Flip = component('Flip', {
  seq: z.int().describe('the entry of the decision'),
  decision_id: z.string(),
  decided_at: Timestamp,
  agent_id: z.string(),
  action: z.string(),
  resource: z.string().nullable(),
  kind: z.enum(FLIPS),
  cause: z
    .string()
    .nullable()
    .describe(
      'the policy rule; null is default_effect. From allow to needs_approval and back, the approval rule',
    ),
  was: Side,
  would_be: Side,
})
export type Flip = z.infer<typeof Flip>

export const Replay = component('Replay', {
  from: Timestamp,
  to: Timestamp,
  first_seq: z.int().nullable().describe('the first decision of the replay'),
  last_seq: z.int().nullable(),
  decisions: Count.describe('total of unchanged, flipped and not replayable decisions'),
  unchanged: z.object({
    judged: Count.describe('the policies and approval rules give the same result'),
    denied_elsewhere: Count.describe('denied by another stage, regardless of the policies'),
    not_in_plan: Count.describe('made on a plan without policies'),
  }),
  flipped: FlipCounts,
  not_replayable: z.object({
    erased: Count.describe('the payload was erased'),
    policies_failed: Count.describe('denied because the evaluation of the policies timed out'),
    agent_unknown: Count.describe('a rule reads `agent`, which is no longer in the ledger'),
    reason_unknown: Count.describe('decided by a newer version, for a reason not known here'),
    malformed: Count.describe('not in the format of the server: verify the ledger'),
  }),
  rules: z.array(
    z.object({
      policy: z.string().nullable().describe('null is default_effect, or an approval rule'),
      approval_rule: z.string().optional().describe('absent for a policy and default_effect'),
      ...FlipCounts.shape,
    }),
  ),
  rules_omitted: Count.describe('further rules with flips; the listed ones have the most'),
  flips: z.array(Flip),
  flips_omitted: Count,
  judged_by: z.object({
    policies: Count.describe('rules in force, including the overlay'),
    approval_rules: Count,
    default_effect: z.enum(['allow', 'deny']),
    digest: z.string().describe('identical for identical rules'),
  }),
  notes: z.array(z.string()).describe('notes on the interpretation of the numbers'),
  overlay: z.array(TriedRule),
  next_cursor: z.string().nullable(),
  ledger: Receipt,
})
export type Replay = z.infer<typeof Replay>

const trying = { plan: 'team', roles: ['read', 'approver'], viaWriter: true } as const

/** Refusals of an overlay. */
const overlayProblems = [
  'too_many_broad_rules',
  'too_many_pattern_denies',
  'permission_revoked',
  'permission_parent_fixed',
  'permission_parent_unusable',
  'permission_too_wide',
  'agent_in_chain',
] as const

export const dryRun = {
  dryRunPolicies: endpoint('POST /v1/compliance/policies/dry-run', {
    ...trying,
    summary: 'Preview decisions under current or other policy rules, without effects',
    text: 'Returns the decisions that `POST /v1/authorize` would make, for one request or up to 1,000, now or at another time, optionally with other rules. Nothing changes; one entry records the dry-run.',
    problems: overlayProblems,
    body: DryRunRequest,
    ok: DryRunAnswer,
  }),
  replayPolicies: endpoint('POST /v1/compliance/policies/replay', {
    ...trying,
    summary: 'Replay recorded decisions under other policies and approval rules',
    text: 'Replays recorded decisions of a period under the current rules and an overlay, and counts those that change. One request replays up to 100,000 decisions; `next_cursor` continues.',
    problems: ['rules_changed', 'ledger_pruned', ...overlayProblems],
    body: ReplayRequest,
    ok: Replay,
    maxSeconds: 60,
  }),
}
