/**
 * All error codes of the API, with HTTP status and title (RFC 9457). A test compares
 * `docs/errors.md` with this table in both directions.
 */
export const PROBLEMS = {
  invalid_request: [400, 'The request is not valid'],
  invalid_json: [400, 'The body is not strict JSON'],
  invalid_idempotency_key: [400, 'The Idempotency-Key is not valid'],
  invalid_params: [400, 'The parameters of the scorer are not valid'],
  invalid_grant: [400, 'The subject token was not accepted'],
  invalid_scope: [400, 'The requested scope cannot be granted'],
  invalid_target: [400, 'The requested target is not this server'],
  unsupported_grant_type: [400, 'The grant type is not supported'],
  unauthorized: [401, 'A valid key is required'],
  plan_required: [403, 'The plan of the organization does not include this endpoint'],
  role_required: [403, 'The role of the key does not allow this request'],
  approver_not_eligible: [403, 'The approver may not decide this request'],
  agent_mismatch: [403, 'A credential acts only as its own agent'],
  insufficient_scope: [403, 'The credential lacks the required scope'],
  scope_required: [403, 'The request requires an additional scope'],
  principal_not_allowed: [403, 'Agent credentials cannot call this endpoint'],
  organization_suspended: [403, 'The organization is suspended and can only read'],
  csrf_refused: [403, 'The request did not come from a page of this server'],
  key_login_off: [403, 'Signing in with a key is switched off'],
  not_found: [404, 'The path does not exist'],
  scorer_not_found: [404, 'The scorer does not exist'],
  ledger_entry_not_found: [404, 'The ledger entry does not exist'],
  spend_limit_not_found: [404, 'The agent has no spend limit'],
  budget_not_found: [404, 'The budget does not exist'],
  permission_not_found: [404, 'The permission does not exist'],
  mcp_tool_not_found: [404, 'The MCP tool does not exist'],
  webhook_not_found: [404, 'The webhook does not exist'],
  sink_not_found: [404, 'The sink does not exist'],
  delivery_not_found: [404, 'The delivery does not exist or is older than 7 days'],
  policy_not_found: [404, 'The policy does not exist'],
  policy_set_not_found: [404, 'The policy set does not exist'],
  approval_rule_not_found: [404, 'The approval rule does not exist'],
  approval_not_found: [404, 'The approval request does not exist'],
  report_not_found: [404, 'The report does not exist'],
  decision_not_found: [404, 'The decision does not exist'],
  key_not_found: [404, 'The key does not exist or is revoked'],
  agent_not_found: [404, 'The agent does not exist'],
  person_not_found: [404, 'The person does not exist'],
  organization_not_found: [404, 'The organization does not exist'],
  login_provider_not_found: [404, 'The organization has no OpenID provider of its own'],
  credential_not_found: [404, 'The credential does not exist or is no longer valid'],
  trust_policy_not_found: [404, 'The trust policy does not exist'],
  issuer_not_found: [404, 'The trusted issuer does not exist'],
  method_not_allowed: [405, 'The path does not support this method'],
  request_timeout: [408, 'The request was not received in time'],
  idempotency_mismatch: [409, 'The Idempotency-Key was used for another request'],
  idempotency_in_progress: [409, 'The first request with this Idempotency-Key is still running'],
  organization_exists: [409, 'An organization with this name exists'],
  organization_active: [409, 'The organization must be suspended first'],
  deletion_not_due: [409, 'The organization cannot be deleted yet'],
  approval_closed: [409, 'The approval request is closed'],
  already_voted: [409, 'The approver has already cast a different vote'],
  approval_not_usable: [409, 'The request has no unused approval to revoke'],
  decision_settled: [409, 'The decision is already settled'],
  budget_fixed: [409, 'This part of the budget cannot be changed'],
  budget_has_children: [409, 'The budget has children'],
  too_many_budgets: [409, 'The organization has reached its limit of budgets'],
  mcp_tool_changed: [409, 'The definition of the MCP tool changed'],
  too_many_mcp_tools: [409, 'The organization has reached its limit of MCP tools'],
  too_many_hosts: [409, 'The organization has reached its limit of hosts'],
  too_many_webhooks: [409, 'The organization has reached its limit of webhooks'],
  too_many_sinks: [409, 'The organization has reached its limit of sinks'],
  permission_revoked: [409, 'The permission was revoked, and its id cannot be reused'],
  permission_parent_fixed: [409, 'The parent of a permission cannot be changed'],
  agent_in_chain: [409, 'The agent is already in the delegation chain'],
  too_many_pattern_denies: [
    409,
    'The organization has reached its limit of denials with an agent pattern',
  ],
  too_many_broad_rules: [
    409,
    'The organization has reached its limit of rules that apply to every request',
  ],
  too_many_policy_sets: [409, 'The organization has reached its limit of policy sets'],
  plan_stale: [409, 'The plan is not of the current objects and these documents'],
  drifted: [409, 'Objects of the policy set were changed outside of it'],
  managed_by_policy_set: [409, 'The object belongs to a policy set'],
  change_requires_approval: [409, 'The change requires an approval'],
  approver_missing: [409, 'Two people who can decide are required'],
  rules_changed: [409, 'The rules changed during the request'],
  too_many_policies: [409, 'The organization has reached its limit of policies'],
  person_exists: [409, 'The address already belongs to a person of the organization'],
  too_many_people: [409, 'The organization has reached its limit of people'],
  last_admin: [409, 'The last administrator cannot be removed or demoted'],
  role_managed: [409, 'The identity provider decides about the role'],
  last_admin_key: [409, 'The last key that can administer the organization cannot be revoked'],
  agent_exists: [409, 'The agent id is or was in use and cannot be reused'],
  too_many_agents: [409, 'The organization has reached its limit of agents'],
  agent_suspended: [409, 'The agent is suspended'],
  subject_taken: [409, 'The subject already belongs to another agent'],
  credential_ended: [409, 'The credential is revoked or expired'],
  too_many_credentials: [409, 'The agent has reached its limit of valid credentials'],
  issuer_exists: [409, 'The issuer is already trusted for this audience'],
  too_many_issuers: [409, 'The organization has reached its limit of trusted issuers'],
  too_many_trust_policies: [409, 'The organization has reached its limit of trust policies'],
  report_not_ready: [409, 'The report is not generated yet'],
  report_changed: [409, 'The stored report was modified'],
  answer_erased: [410, 'The stored response was erased, and the request is not repeated'],
  ledger_pruned: [410, 'The requested part of the ledger was pruned'],
  version_mismatch: [412, 'The object has changed since it was read'],
  precondition_required: [428, 'The request requires If-Match'],
  body_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The body must be application/json'],
  property_violated: [422, 'A property of the policy set does not hold'],
  tests_failed: [422, 'A test of the policy set failed'],
  size_not_signed: [422, 'The ledger has no tree of this size'],
  budget_overallocated: [422, 'The reserved children exceed the limit of their parent'],
  budget_tree_invalid: [422, 'The budget does not fit into its tree'],
  budget_wider_than_parent: [422, 'The budget matches more than its parent'],
  permission_parent_unusable: [422, 'The parent permission cannot be delegated further'],
  permission_too_wide: [422, 'The permission is broader than its parent'],
  rate_limited: [429, 'Too many requests'],
  quota_exceeded: [429, 'The organization has used up its decisions of this month'],
  jobs_busy: [429, 'Too many expensive requests of the organization are waiting'],
  header_too_large: [431, 'The header is too large'],
  internal_error: [500, 'Internal server error'],
  ledger_unavailable: [503, 'The ledger is unavailable; nothing was changed'],
  outcome_unknown: [503, 'The database connection was lost during the commit; retry the request'],
  overloaded: [503, 'Too many requests are waiting'],
  database_unavailable: [503, 'The database is unavailable'],
  deadline_exceeded: [503, 'The request exceeded its deadline'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof PROBLEMS

/** One error of the input: `path` is a dotted path into the body or the name of a parameter. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** The body of every error response, `application/problem+json` (RFC 9457 §3). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  readonly request_id: string
  /** The first fifty. */
  readonly errors?: readonly FieldError[]
  /** Number of further errors. */
  readonly errors_omitted?: number
  readonly [extension: string]: unknown
}
