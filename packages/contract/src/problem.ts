/**
 * Every error code the API can answer, with its HTTP status and title (RFC 9457).
 * `docs/errors.md` is compared with this table in both directions by a test.
 */
export const PROBLEMS = {
  invalid_request: [400, 'The request is not valid'],
  invalid_json: [400, 'The body is not strict JSON'],
  invalid_idempotency_key: [400, 'The Idempotency-Key is not valid'],
  invalid_params: [400, 'The parameters of the scorer are not valid'],
  invalid_grant: [400, 'The subject token was not accepted'],
  invalid_scope: [400, 'The scope cannot be had'],
  invalid_target: [400, 'The credential would be for another server'],
  unsupported_grant_type: [400, 'Only token exchange is offered'],
  unauthorized: [401, 'A valid key is required'],
  plan_required: [403, 'The plan of the organization does not include this'],
  role_required: [403, 'The key may not do this'],
  approver_not_eligible: [403, 'The approver may not decide this request'],
  agent_mismatch: [403, 'A credential acts only as its own agent'],
  insufficient_scope: [403, 'The credential is not for this'],
  scope_required: [403, 'The request needs a further scope'],
  principal_not_allowed: [403, 'Credentials of agents may never do this'],
  not_found: [404, 'There is nothing here'],
  scorer_not_found: [404, 'There is no scorer of that name'],
  ledger_entry_not_found: [404, 'The ledger has no such entry'],
  spend_limit_not_found: [404, 'The agent has no spend limit'],
  permission_not_found: [404, 'There is no such permission'],
  webhook_not_found: [404, 'There is no such webhook'],
  policy_not_found: [404, 'There is no such policy'],
  approval_rule_not_found: [404, 'There is no such approval rule'],
  approval_not_found: [404, 'There is no such request for approval'],
  report_not_found: [404, 'There is no such report'],
  decision_not_found: [404, 'There is no such decision'],
  key_not_found: [404, 'There is no such live key'],
  agent_not_found: [404, 'There is no such agent'],
  credential_not_found: [404, 'There is no such live credential'],
  trust_policy_not_found: [404, 'There is no such trust policy'],
  issuer_not_found: [404, 'There is no such trusted issuer'],
  method_not_allowed: [405, 'The path does not take this method'],
  request_timeout: [408, 'The request took too long to arrive'],
  idempotency_mismatch: [409, 'The Idempotency-Key was used for another request'],
  idempotency_in_progress: [409, 'The first request with this Idempotency-Key still runs'],
  approval_closed: [409, 'The request for approval is closed'],
  already_voted: [409, 'The approver has voted otherwise'],
  approval_not_usable: [409, 'There is no unused approval to take back'],
  decision_settled: [409, 'The decision is settled already'],
  too_many_webhooks: [409, 'There are as many webhooks as an organization can have'],
  permission_revoked: [409, 'The permission was revoked, and its id is not given again'],
  permission_parent_fixed: [409, 'A permission keeps its parent'],
  agent_in_chain: [409, 'The agent is in the chain already'],
  too_many_pattern_denies: [409, 'There are too many denies with a pattern of agents'],
  too_many_broad_rules: [409, 'There are too many rules that concern every request'],
  rules_changed: [409, 'The rules have changed meanwhile'],
  last_admin_key: [409, 'It is the only key that can administer the organization'],
  agent_exists: [409, 'The id of an agent is given once'],
  too_many_agents: [409, 'There are as many agents as an organization can have'],
  agent_suspended: [409, 'The agent is suspended'],
  subject_taken: [409, 'The subject is another agent already'],
  credential_ended: [409, 'The credential has ended'],
  too_many_credentials: [409, 'There are as many live credentials as there can be'],
  issuer_exists: [409, 'The issuer is trusted for that audience already'],
  too_many_issuers: [409, 'There are as many trusted issuers as an organization can have'],
  too_many_trust_policies: [409, 'There are as many trust policies as an organization can have'],
  report_not_ready: [409, 'The report is not generated yet'],
  report_changed: [409, 'What is stored of the report was changed'],
  answer_erased: [410, 'The answer was erased, and the request is not carried out again'],
  ledger_pruned: [410, 'That part of the ledger was pruned'],
  version_mismatch: [412, 'It was changed meanwhile'],
  body_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The body must be application/json'],
  size_not_signed: [422, 'The ledger has no tree of that size'],
  permission_parent_unusable: [422, 'The parent carries no such permission'],
  permission_too_wide: [422, 'The permission is wider than what it is cut from'],
  rate_limited: [429, 'Too many requests'],
  jobs_busy: [429, 'Too much heavy work of the organization is waiting'],
  header_too_large: [431, 'The header is too large'],
  internal_error: [500, 'The server failed'],
  ledger_unavailable: [503, 'The record could not be written, so nothing was done'],
  outcome_unknown: [503, 'The connection broke while committing; ask again'],
  overloaded: [503, 'Too many requests are waiting'],
  database_unavailable: [503, 'The database cannot be reached'],
  deadline_exceeded: [503, 'The request passed its deadline'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof PROBLEMS

/** One fault of the input: `path` is a dotted path into the body or a parameter's name. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** The body of every error answer, `application/problem+json` (RFC 9457 §3). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  readonly request_id: string
  /** The first fifty. */
  readonly errors?: readonly FieldError[]
  /** How many more there are. */
  readonly errors_omitted?: number
  readonly [extension: string]: unknown
}
