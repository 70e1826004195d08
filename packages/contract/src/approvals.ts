import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import {
  Action,
  AgentId,
  component,
  FreeForm,
  integer,
  page,
  Paging,
  PathId,
  Resource,
  Seq,
  strictComponent,
  Timestamp,
  wholeNumber,
} from './primitives.ts'
import {
  ConditionText,
  Description,
  MODE_FAULT,
  modeIsOfEnabled,
  Patterns,
  RuleMode,
} from './rules.ts'
import { foldName } from './fit/values.ts'
import { Validating, Validation } from './validation.ts'

const SPELLINGS = {
  approve: 'approve',
  approved: 'approve',
  reject: 'reject',
  rejected: 'reject',
  deny: 'reject',
  denied: 'reject',
} as const

export const ApprovalDecision = strictComponent('ApprovalDecision', {
  decision: z
    .enum(['approve', 'reject', 'approved', 'rejected', 'deny', 'denied'])
    .transform((word) => SPELLINGS[word]),
  comment: z.string().min(1).max(2000).optional(),
  approver: AgentId.optional().describe('Person who decides, if the key names no person'),
})
export type ApprovalDecision = z.infer<typeof ApprovalDecision>

/** Eligible approvers: people by name, and every key with one of the roles. */
const Approvers = z
  .strictObject({
    users: z.array(AgentId).max(100).default([]),
    roles: z.array(AgentId).max(20).default([]),
  })
  .refine(({ users, roles }) => users.length + roles.length > 0, {
    message: 'must have a user or a role; omit it for all eligible approvers',
  })

const seconds = (min: number, preset: number) => integer(min, 31_536_000).default(preset)
const votes = integer(1, 20).default(1)

const rule = {
  description: Description,
  enabled: z.boolean().default(true),
  mode: RuleMode,
  agents: Patterns,
  actions: Patterns,
  resources: Patterns,
  condition: ConditionText.nullable().default(null),
  approvers: Approvers.nullable().default(null),
  required_approvals: votes,
  required_rejections: votes,
  prevent_self_approval: z.boolean().default(true),
  reason_required: z.boolean().default(false),
  comment_to_agent: z.boolean().default(false),
  request_ttl_seconds: seconds(1, 86_400),
  approval_ttl_seconds: seconds(1, 3600),
  rejection_cooldown_seconds: seconds(0, 3600),
  binding_context: z.array(z.string().min(1).max(256)).max(100).nullable().default(null),
}

const Rule = z.strictObject(rule)

type Quorum = 'required_approvals' | 'required_rejections'

/** A quorum that the named people can never reach would always deny. */
const isReachable = (field: Quorum) => (input: z.infer<typeof Rule>) => {
  const { approvers } = input
  if (approvers === null || approvers.roles.length > 0) return true
  return new Set(approvers.users.map(foldName)).size >= input[field]
}
const fault = (field: Quorum) => ({
  path: [field],
  message: 'is greater than the number of users who may decide',
})

export const ApprovalRuleInput = Rule.refine(
  isReachable('required_approvals'),
  fault('required_approvals'),
)
  .refine(isReachable('required_rejections'), fault('required_rejections'))
  .refine(modeIsOfEnabled, MODE_FAULT)
  .meta({ id: 'ApprovalRuleInput' })
export type ApprovalRuleInput = z.infer<typeof ApprovalRuleInput>

export const ApprovalRule = component('ApprovalRule', {
  id: z.string(),
  ...rule,
  created_at: Timestamp,
  created_by: z.string(),
  updated_at: Timestamp,
  warnings: z.array(z.string()).optional().describe('Valid settings that are probably mistakes'),
  ledger: Receipt.optional(),
})
export type ApprovalRule = z.infer<typeof ApprovalRule>

export const ApprovalStatus = z
  .enum(['pending', 'approved', 'rejected', 'expired', 'cancelled', 'consumed', 'revoked'])
  .meta({ id: 'ApprovalStatus' })
export type ApprovalStatus = z.infer<typeof ApprovalStatus>

const Requirement = z.object({
  rule_id: z.string(),
  description: z.string().nullable(),
  required: z.int(),
  required_rejections: z.int(),
  approvers: z.object({ users: z.array(z.string()), roles: z.array(z.string()) }).nullable(),
  prevent_self_approval: z.boolean(),
  reason_required: z.boolean(),
  comment_to_agent: z.boolean().optional(),
  separate_keys: z.boolean().optional(),
  condition_failed: z.boolean().optional(),
})

const ApprovalVote = z.object({
  approver: z.object({
    type: z.enum(['person', 'key']),
    id: z.string(),
    email: z.string().optional().describe('Verified address of the person'),
    named: z
      .boolean()
      .describe(
        'True: the session or the key names the person. False: the request named the person',
      ),
  }),
  role: z.string().describe('Role of the person or key'),
  key_id: z.string().describe('The key, or the person of a session'),
  decision: z.enum(['approve', 'reject']),
  comment: z.string().nullable(),
  at: Timestamp,
})

export const Approval = component('Approval', {
  id: z.string(),
  status: ApprovalStatus,
  agent_id: AgentId,
  action: Action,
  resource: Resource.nullable(),
  context: FreeForm,
  shown: z
    .string()
    .describe('The bound request as canonical JSON, with invisible characters as \\u{…}'),
  replaced: z
    .array(z.string())
    .optional()
    .describe('JSON Pointers of the bound places that stand for longer or other values'),
  binding_hash: z.string().describe('base64url SHA-256 of the canonical JSON'),
  binding_context: z.array(z.string()).nullable().describe('Bound members; null: all'),
  requirements: z.array(Requirement),
  votes: z.array(ApprovalVote),
  requested_by: z.object({ type: z.string(), id: z.string(), person: z.string().nullable() }),
  acting_for: z.string().nullable(),
  requested_at: Timestamp,
  expires_at: Timestamp,
  decided_at: Timestamp.nullable(),
  usable_until: Timestamp.nullable(),
  consumed_at: Timestamp.nullable(),
  closed_at: Timestamp.nullable().describe('Consumed, cancelled, revoked or expired'),
  decision_id: z.string().describe('The decision that opened the request'),
  consumed_by: z.string().nullable().describe('The allow that used the approval'),
  comment_for_agent: z
    .string()
    .nullable()
    .optional()
    .describe('Comments of the rejecting votes, where every rule passes them on; else null'),
  can_vote: z.boolean().optional().describe('True if the caller can decide the request now'),
  why_not: z.string().nullable().optional().describe('The reason where the caller cannot'),
  ledger: Receipt.optional(),
})
export type Approval = z.infer<typeof Approval>

const Id = z.strictObject({ id: PathId })
const reading = {
  plan: 'enterprise',
  roles: ['read', 'approver', 'ingest'],
  scope: 'approvals:read',
} as const

export const approvals = {
  listApprovalRules: endpoint('GET /v1/approval-rules', {
    plan: 'enterprise',
    roles: ['read', 'approver'],
    summary: 'List approval rules',
    text: 'Lists the approval rules, disabled ones too.',
    query: z.strictObject(Paging),
    ok: page(ApprovalRule),
  }),
  getApprovalRule: endpoint('GET /v1/approval-rules/{id}', {
    plan: 'enterprise',
    roles: ['read', 'approver'],
    summary: 'Get an approval rule',
    text: 'Returns one approval rule.',
    problems: ['approval_rule_not_found'],
    params: Id,
    ok: ApprovalRule,
    sends: ['ETag'],
  }),
  setApprovalRule: endpoint('POST /v1/approval-rules/{id}', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Create or replace an approval rule',
    text: 'Creates or replaces an approval rule: 201 or 200. Matching actions that no other stage denies then need approval. Requests that are already open keep the rule that opened them. With `If-Match`, a rule that is another one than was read, or that is gone, is 412; without, the last writer wins.',
    problems: ['managed_by_policy_set', 'change_requires_approval'],
    params: Id,
    query: Validating,
    body: ApprovalRuleInput,
    replaces: true,
    ok: ApprovalRule,
    also: { validation: Validation },
    status: 201,
    alsoStatus: 200,
    takes: ['If-Match'],
    sends: ['Location', 'ETag'],
  }),
  removeApprovalRule: endpoint('DELETE /v1/approval-rules/{id}', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Remove an approval rule; its open requests remain',
    text: 'Removes an approval rule. Requests that it opened stay open.',
    problems: ['managed_by_policy_set', 'change_requires_approval', 'approval_rule_not_found'],
    params: Id,
    takes: ['If-Match'],
  }),
  listApprovals: endpoint('GET /v1/approvals', {
    ...reading,
    summary: 'List approval requests, newest first',
    text: 'Lists approval requests, newest first, filtered by status and agent. A credential sees the requests of its own agent only.',
    problems: ['agent_mismatch'],
    query: z.strictObject({
      ...Paging,
      status: ApprovalStatus.optional(),
      agent_id: AgentId.optional(),
    }),
    ok: page(Approval),
  }),
  streamApprovals: endpoint('GET /v1/approvals/events', {
    ...reading,
    scope: null,
    summary: 'Stream approval events as server-sent events; resumes after Last-Event-ID',
    text: 'Streams approval events as server-sent events, each with the sequence number of its entry as `id`. A client that reconnects with `Last-Event-ID` misses nothing.',
    problems: ['ledger_pruned'],
    query: z.strictObject({ after_seq: Seq.optional() }),
    ok: z.string(),
    produces: 'text/event-stream',
    takes: ['Last-Event-ID'],
  }),
  getApproval: endpoint('GET /v1/approvals/{id}', {
    ...reading,
    summary: 'Get an approval request; `wait` delays the response while it is pending',
    text: 'Returns one approval request in any state. With `wait` the answer is held for up to 55 seconds while the request is pending.',
    problems: ['approval_not_found'],
    params: Id,
    query: z.strictObject({ wait: wholeNumber(0, 55).default(0) }),
    ok: Approval,
    maxSeconds: 65,
  }),
  decideApproval: endpoint('POST /v1/approvals/{requestID}/decide', {
    plan: 'enterprise',
    roles: ['approver'],
    viaWriter: true,
    summary: 'Approve or reject a pending request',
    text: 'Casts a vote on a pending request. The same vote again is 200; another vote, or a vote on a closed request, is 409. The requester cannot vote where a rule prevents self-approval.',
    problems: ['approval_not_found', 'approval_closed', 'already_voted', 'approver_not_eligible'],
    params: z.strictObject({ requestID: PathId }),
    body: ApprovalDecision,
    ok: Approval,
  }),
  cancelApproval: endpoint('POST /v1/approvals/{id}/cancel', {
    plan: 'enterprise',
    roles: ['ingest'],
    scope: 'authorize',
    viaWriter: true,
    summary: 'Withdraw a pending request as its requester',
    text: 'Withdraws a pending request. A credential withdraws requests of its own agent only; others are 404.',
    problems: ['approval_not_found', 'approval_closed'],
    params: Id,
    ok: Approval,
  }),
  revokeApproval: endpoint('POST /v1/approvals/{id}/revoke', {
    plan: 'enterprise',
    roles: ['approver'],
    viaWriter: true,
    summary: 'Revoke an unused approval',
    text: 'Revokes an approval that no decision has used yet.',
    problems: ['approval_not_found', 'approval_not_usable', 'approver_not_eligible'],
    params: Id,
    ok: Approval,
  }),
}
