import { z } from 'zod'
import { Approval, ApprovalRuleInput } from './approvals.ts'
import { AuthorizeRequest, Decision } from './authorize.ts'
import { AgentMode, PermissionInput } from './delegation.ts'
import { FlipCounts, MAX_REPLAYED } from './dry-run.ts'
import { BudgetInput } from './budgets.ts'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { OrganizationSettings } from './organization.ts'
import { ChangeReason, PolicyInput } from './policies.ts'
import {
  AgentId,
  component,
  integer,
  mapOf,
  PathId,
  strictComponent,
  Timestamp,
} from './primitives.ts'
import { PropertyResult, PropertySpec } from './properties.ts'
import { Reason } from './reasons.ts'
import { SpendLimitInput } from './spend-limits.ts'
import { TrustPolicyInput } from './trust.ts'

/** The format of documents. */
export const API_VERSION = 'remit.dev/v1'
export const MAX_DOCUMENTS = 2_000
/** The id of the only object of the kind `Settings`. */
export const SETTINGS_ID = 'settings'

const { shape: S } = OrganizationSettings

/** Settings that belong to a set; those that it leaves out do not. */
const SettingsSpec = z
  .strictObject({
    default_effect: S.default_effect.unwrap().optional(),
    unknown_agents: S.unknown_agents.unwrap().optional(),
    require_agent_credentials: S.require_agent_credentials.unwrap().optional(),
    require_separate_keys: S.require_separate_keys.unwrap().optional(),
    four_eyes: S.four_eyes.unwrap().optional(),
    consequential_actions: S.consequential_actions.unwrap().optional(),
  })
  .refine((settings) => Object.keys(settings).length > 0, 'must have at least one setting')

const TestCase = z.strictObject({
  name: z.string().min(1).max(200),
  request: AuthorizeRequest,
  at: Timestamp.optional().describe('Time of the decision. Default: now'),
  expect: z.strictObject({
    decision: Decision,
    reason: Reason.optional(),
    matched: z
      .array(z.string().max(256))
      .max(100)
      .optional()
      .describe('Ids of all policies, approval rules and permissions that match, in any order'),
  }),
})
export type TestCase = z.infer<typeof TestCase>

const TestsSpec = z.strictObject({
  cases: z.array(TestCase).min(1, 'must have at least one case').max(1_000),
})

const document = <Kind extends string, Spec extends z.ZodType>(kind: Kind, spec: Spec) =>
  z.strictObject({
    apiVersion: z.literal(API_VERSION, `must be ${API_VERSION}`),
    kind: z.literal(kind).describe('Kind of the document'),
    name: PathId,
    spec,
  })

/** Kinds of documents that describe an object, in the order in which they are applied. */
export const OBJECT_KINDS = [
  'Settings',
  'Policy',
  'ApprovalRule',
  'Permission',
  'SpendLimit',
  'Budget',
  'AgentMode',
  'TrustPolicy',
] as const
export type ObjectKind = (typeof OBJECT_KINDS)[number]

/** Kinds of documents that check the rules and are not stored. */
export const CHECK_KINDS = ['Tests', 'Property'] as const

/** One document of a policy set: the object that it describes, or a check of the rules. */
export const PolicyDocument = z
  .discriminatedUnion(
    'kind',
    [
      document('Settings', SettingsSpec),
      document('Policy', PolicyInput),
      document('ApprovalRule', ApprovalRuleInput),
      document('Permission', PermissionInput),
      document('SpendLimit', SpendLimitInput.safeExtend({ agent_id: AgentId })),
      document('Budget', BudgetInput),
      document('AgentMode', z.strictObject({ agent_id: AgentId, mode: AgentMode })),
      document('TrustPolicy', TrustPolicyInput),
      document('Tests', TestsSpec),
      document('Property', PropertySpec),
    ],
    { error: `must be one of ${[...OBJECT_KINDS, ...CHECK_KINDS].join(', ')}` },
  )
  .meta({ id: 'PolicyDocument' })
export type PolicyDocument = z.infer<typeof PolicyDocument>
export type DocumentKindName = PolicyDocument['kind']
export type DocumentSpec<Kind extends DocumentKindName> = Extract<
  PolicyDocument,
  { kind: Kind }
>['spec']

const JsonObject = mapOf(z.string(), z.unknown())
const ObjectKindName = z.enum(OBJECT_KINDS)

/** A document as it is read back. */
const StoredDocument = component('PolicySetDocument', {
  apiVersion: z.literal(API_VERSION),
  kind: ObjectKindName,
  name: z.string(),
  spec: JsonObject,
})

const Documents = z
  .array(PolicyDocument)
  .max(MAX_DOCUMENTS)
  .describe('The whole set: an object of the set that no document describes is deleted')
const AllowEmpty = z
  .boolean()
  .default(false)
  .describe('Accepts no documents at all, which deletes every object of the set')

const ObjectChange = component('PolicySetChange', {
  kind: ObjectKindName,
  name: z.string(),
  object_id: z.string(),
  change: z
    .enum(['create', 'replace', 'delete', 'adopt', 'release'])
    .describe(
      '`adopt`: the object exists in no set and joins this one. `release`: it leaves the set and keeps its value',
    ),
  before: JsonObject.nullable(),
  after: JsonObject.nullable(),
  weakens: z
    .boolean()
    .describe(
      'False only if the change provably allows nothing that was denied or held, or cuts a permission from another one that can be delegated',
    ),
  warnings: z.array(z.string()),
})
export type ObjectChange = z.infer<typeof ObjectChange>

const Drift = component('PolicySetDrift', {
  kind: ObjectKindName,
  name: z.string(),
  object_id: z.string(),
  change: z.enum(['changed', 'deleted']),
  by: z.string().nullable().describe('Who changed the object outside of the set'),
  seq: z.int().nullable().describe('The ledger entry of that change'),
  at: Timestamp.nullable(),
})
export type Drift = z.infer<typeof Drift>

const TestResult = component('PolicyTestResult', {
  document: z.string().describe('Name of the document with the case'),
  name: z.string(),
  passed: z.boolean(),
  got: z.object({ decision: Decision, reason: Reason, matched: z.array(z.string()) }),
})
export type TestResult = z.infer<typeof TestResult>

export const TestSummary = component('PolicyTests', {
  passed: z.int(),
  failed: z.int(),
  cases: z.array(TestResult).describe('Failed cases first; at most 200'),
  unmatched: z
    .array(z.object({ kind: ObjectKindName, name: z.string() }))
    .describe('Rules of the set that no case matches; disabled and observed ones are left out'),
})
export type TestSummary = z.infer<typeof TestSummary>

/** How recorded decisions would differ after the plan. */
export const PlanReplay = component('PlanReplay', {
  from: Timestamp,
  to: Timestamp,
  decisions: z.int().describe('Replayed decisions, also those that cannot be replayed'),
  flipped: FlipCounts,
  not_replayable: z.int().describe('Decisions whose outcome under the new rules is unknown'),
  complete: z.boolean().describe('False: the period has more decisions than were replayed'),
})
export type PlanReplay = z.infer<typeof PlanReplay>

export const PolicySetPlan = component('PolicySetPlan', {
  plan_digest: z.string().describe('Sent to apply, which applies this plan or nothing'),
  base_digest: z.string(),
  changes: z.array(ObjectChange),
  unchanged: z.int().describe('Number of documents whose objects do not change'),
  drift: z.array(Drift),
  tests: TestSummary,
  properties: z.array(PropertyResult),
  replay: PlanReplay.nullable().describe('Null unless it was asked for'),
  approval: z
    .object({ required: z.boolean(), why: z.string().nullable() })
    .describe('Whether apply will wait for an approval, by the setting `rule_changes`'),
  warnings: z.array(z.string()),
  ledger: Receipt.optional(),
})
export type PolicySetPlan = z.infer<typeof PolicySetPlan>

const Revision = z.int().describe('Number of applied plans')

export const PolicySet = component('PolicySet', {
  id: z.string(),
  revision: Revision,
  digest: z.string().describe('base64url SHA-256 of the documents that were applied last'),
  applied_at: Timestamp,
  applied_by: z.string(),
  locked: z.boolean().describe('Other endpoints refuse to change its objects'),
  objects: z.array(z.object({ kind: ObjectKindName, name: z.string(), object_id: z.string() })),
  drift: z.array(Drift),
  ledger: Receipt.optional(),
})
export type PolicySet = z.infer<typeof PolicySet>

const PlanInput = strictComponent('PolicySetPlanInput', {
  documents: Documents,
  allow_empty: AllowEmpty,
  replay: z
    .strictObject({
      from: Timestamp,
      to: Timestamp,
      max_decisions: integer(1, MAX_REPLAYED).default(MAX_REPLAYED),
    })
    .refine(({ from, to }) => Date.parse(from) < Date.parse(to), {
      path: ['to'],
      message: 'must be after from',
    })
    .optional()
    .describe('Counts the recorded decisions of a period that would differ'),
})
export type PlanInput = z.infer<typeof PlanInput>

const ApplyInput = strictComponent('PolicySetApplyInput', {
  documents: Documents,
  plan_digest: z.string().max(64),
  allow_empty: AllowEmpty,
  overwrite_drift: z
    .boolean()
    .default(false)
    .describe('Replaces objects that were changed outside of the set'),
  change_reason: ChangeReason.optional(),
})
export type ApplyInput = z.infer<typeof ApplyInput>

/** A plan that waits for a vote. */
const WaitingChange = component('WaitingPolicySetChange', {
  approval: Approval,
  ledger: Receipt.optional(),
})
export type WaitingChange = z.infer<typeof WaitingChange>

const Id = z.strictObject({ id: PathId })
const reading = { plan: 'enterprise', roles: ['read', 'approver'] } as const
const changing = { plan: 'enterprise', viaWriter: true } as const
const large = { maxBodyBytes: 4 * 1024 * 1024, maxSeconds: 60 } as const

/** Refusals of budgets that do not fit together after all changes. */
const OF_BUDGETS = [
  'budget_fixed',
  'budget_has_children',
  'budget_overallocated',
  'budget_tree_invalid',
  'budget_wider_than_parent',
  'too_many_budgets',
] as const

export const policySets = {
  listPolicySets: endpoint('GET /v1/policy-sets', {
    ...reading,
    summary: 'List policy sets',
    text: 'Lists the policy sets with their objects and their drift. An organization has at most 20.',
    ok: z.object({ data: z.array(PolicySet) }),
  }),
  getPolicySet: endpoint('GET /v1/policy-sets/{id}', {
    ...reading,
    summary: 'Get a policy set',
    text: 'Returns one policy set. `drift` names objects that were changed or deleted outside of the set since it was applied, except for kinds that this server lacks.',
    problems: ['policy_set_not_found'],
    params: Id,
    ok: PolicySet,
  }),
  getPolicySetDocuments: endpoint('GET /v1/policy-sets/{id}/documents', {
    ...reading,
    summary: 'Get the documents of a policy set as its objects are now',
    text: 'Returns a document for each object of the set. `unmanaged=true` adds the objects that belong to no set; a set that does not exist yet is then empty. A plan of these documents changes nothing but adopts what was unmanaged. Tests are not stored, so that they are not among the documents.',
    problems: ['policy_set_not_found'],
    params: Id,
    query: z.strictObject({ unmanaged: z.enum(['true', 'false']).default('false') }),
    ok: z.object({ documents: z.array(StoredDocument) }),
  }),
  planPolicySet: endpoint('POST /v1/policy-sets/{id}/plan', {
    ...reading,
    ...large,
    viaWriter: true,
    summary: 'Compare documents with the organization and test them',
    text: 'Returns what apply would change, the drift, and the results of the tests: 200 also where tests fail. Nothing is stored but an entry `policy.dry_run`.',
    problems: [
      'too_many_policy_sets',
      'rules_changed',
      'ledger_pruned',
      'jobs_busy',
      ...OF_BUDGETS,
    ],
    params: Id,
    body: PlanInput,
    ok: PolicySetPlan,
  }),
  applyPolicySet: endpoint('POST /v1/policy-sets/{id}/apply', {
    ...changing,
    ...large,
    summary: 'Apply a plan in one transaction',
    text: 'Makes all changes of a plan in one transaction and one version of the configuration, or none of them. Decisions see the rules before or after it, never a mixture. `plan_stale` means that the objects or the documents are not those of the plan, `drifted` that objects of the set were changed outside of it. Where the setting `rule_changes` requires an approval, the response is 202 with the approval request and its `Location`; the same request, sent again after the vote, applies the plan.',
    problems: [
      'plan_stale',
      'drifted',
      'managed_by_policy_set',
      'change_requires_approval',
      'tests_failed',
      'property_violated',
      'jobs_busy',
      'too_many_policy_sets',
      'too_many_policies',
      'too_many_broad_rules',
      'too_many_pattern_denies',
      'too_many_trust_policies',
      'permission_revoked',
      'permission_parent_fixed',
      'permission_parent_unusable',
      'permission_too_wide',
      ...OF_BUDGETS,
      'agent_in_chain',
    ],
    params: Id,
    body: ApplyInput,
    ok: component('AppliedPolicySet', {
      revision: Revision,
      digest: z.string(),
      changes: z.array(ObjectChange),
      ledger: Receipt.optional(),
    }),
    alsoStatus: 202,
    also: { waiting: WaitingChange },
  }),
  lockPolicySet: endpoint('PUT /v1/policy-sets/{id}/lock', {
    ...changing,
    summary: 'Lock or unlock a policy set',
    text: 'While a set is locked, other endpoints refuse to change its objects with 409 `managed_by_policy_set`. Emergency stops are possible at any time: suspending an agent, a new deny, and a spend limit with lower caps.',
    problems: ['policy_set_not_found'],
    params: Id,
    body: strictComponent('PolicySetLock', { locked: z.boolean() }),
    replaces: true,
    ok: PolicySet,
  }),
  removePolicySet: endpoint('DELETE /v1/policy-sets/{id}', {
    ...changing,
    summary: 'Remove a policy set',
    text: 'Removes a set. `objects=keep` leaves its objects as they are, in no set; `objects=delete` deletes them, unless one was changed outside of the set (`drifted`).',
    problems: ['policy_set_not_found', 'drifted', 'change_requires_approval'],
    params: Id,
    query: z.strictObject({ objects: z.enum(['keep', 'delete'], 'must be keep or delete') }),
  }),
}

export type StoredDocument = z.infer<typeof StoredDocument>
