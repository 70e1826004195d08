import type { EndpointName } from '../contract.ts'
import type { ProblemCode } from '../problem.ts'

/** Documentation of one operation, in addition to its contract row. */
export interface OperationText {
  /** Effect, limits and failure of the operation, in a few sentences. */
  readonly text: string
  /** Problems of this operation, in addition to those that its shape implies, such as 401. */
  readonly problems?: readonly ProblemCode[]
}

/** A missing endpoint does not compile. */
const ALL = {
  // Decisions, rules, approvals and spend.
  authorize: {
    text: 'Decides one action of one agent and records the decision in the same transaction. Every outcome is 200: `allow`, `deny` or `needs_approval`. The stages run in this order: explicit agent deny, spend limit, policies, approval rules. An allow holds its amount against the spend limit until `POST /v1/ledger` settles it. A 503 means that nothing was decided or recorded.',
    problems: ['agent_mismatch', 'quota_exceeded'],
  },
  accessEvaluation: {
    text: 'Decides one request in the format of the AuthZEN Authorization API 1.0. It is the same decision as `POST /v1/authorize`, with the same ledger entry. The `context` of the answer gives the reason and, for a request that needs approval, how to ask for it.',
    problems: ['agent_mismatch', 'quota_exceeded'],
  },
  accessEvaluations: {
    text: 'Decides up to 1,000 requests in their order. Members at the top level are defaults for evaluations that lack them. `options.evaluations_semantic` stops at the first denial or permission. A fault in one evaluation is reported in its own element.',
    problems: ['agent_mismatch', 'quota_exceeded'],
  },
  authzenConfiguration: {
    text: 'Returns the metadata of the policy decision point (AuthZEN 1.0, section 9). It needs no key. It is 404 where `REMIT_BASE_URL` is not https.',
    problems: ['not_found'],
  },
  listPolicies: {
    text: 'Lists the policy rules by id, disabled ones too; ids of the server sort by creation.',
  },
  createPolicy: {
    text: 'Creates a policy rule. It counts for every decision after the answer. The condition is compiled first; one that does not compile is 400 with its position. `warnings` names what the author may not have meant.',
    problems: ['too_many_broad_rules', 'too_many_policies'],
  },
  getPolicy: {
    text: 'Returns one policy rule. `ETag` is its revision, for `PUT`.',
    problems: ['policy_not_found'],
  },
  replacePolicy: {
    text: 'Creates a policy rule with the id in the path (201), or replaces one in one change (200): no decision is taken without either version. To replace, `If-Match` must have the `ETag` of the version that was read, so that two editors do not overwrite each other, or `*` for any version. `If-None-Match: *` only creates. The entry `policy.created` or `policy.updated` holds the whole version.',
    problems: [
      'policy_not_found',
      'precondition_required',
      'too_many_broad_rules',
      'too_many_policies',
    ],
  },
  deletePolicy: {
    text: 'Deletes a policy rule. No decision after the answer follows it.',
    problems: ['policy_not_found'],
  },
  listSpendLimits: {
    text: 'Lists the spend limits with what is spent and held in the current day and month.',
  },
  getSpendLimit: {
    text: 'Returns the spend limit of one agent with what is spent and held. A credential reads the limit of its own agent only.',
    problems: ['spend_limit_not_found', 'agent_mismatch'],
  },
  listSpendHolds: {
    text: 'Lists the amounts of allowed decisions that no entry has settled and that have not expired, oldest first. `POST /v1/ledger` with `decision_id` and `settle: "release"` releases one.',
  },
  getSpendHistory: {
    text: 'Returns the spend of the current UTC day by hour, or of the current month by day. Hours are sampled once a minute; decisions never read them. The last point is the current state.',
    problems: ['spend_limit_not_found', 'agent_mismatch'],
  },
  getStats: {
    text: 'Counts decisions by time and one fact, for charts. One process of the installation counts them from the ledger some seconds later; `up_to_seq` is the last counted entry. At most 1,000 buckets are returned.',
  },
  setSpendLimit: {
    text: 'Sets or replaces the spend limit of an agent: 201 for a new limit, 200 for a replaced one. Days and months are those of UTC. Spend from before the limit counts.',
  },
  removeSpendLimit: {
    text: 'Removes the spend limit of an agent. The spend so far stays in the ledger and counts again under a later limit.',
    problems: ['spend_limit_not_found'],
  },
  getDelegation: {
    text: 'Lists permissions, the mode of the agents that they are about, and the newest pending approvals. Revoked permissions are included, with the reason in `effective`.',
  },
  getEffectivePermissions: {
    text: 'Returns what an agent may do now: grants whose chains are valid, denies, the spend limit, and the time at which the answer next changes. A credential reads those of its own agent.',
    problems: ['agent_mismatch'],
  },
  getPermission: {
    text: 'Returns one permission, valid or not, with its chain.',
    problems: ['permission_not_found'],
  },
  grantPermission: {
    text: 'Grants a permission or an explicit deny under an id of your choice, or replaces it: 201 or 200. A permission with `parent_id` is cut from another one and can only narrow it. The first grant switches the agent to the mode `granted`.',
    problems: [
      'permission_not_found',
      'permission_revoked',
      'permission_parent_fixed',
      'agent_in_chain',
      'too_many_pattern_denies',
      'permission_parent_unusable',
      'permission_too_wide',
    ],
  },
  revokePermission: {
    text: 'Revokes a permission and every permission that was cut from it. The answer lists the ids.',
    problems: ['permission_not_found'],
  },
  setAgentMode: {
    text: 'Sets whether an agent may act without permissions (`open`) or on permissions only (`granted`).',
  },
  listApprovalRules: {
    text: 'Lists the approval rules, disabled ones too.',
  },
  getApprovalRule: {
    text: 'Returns one approval rule.',
    problems: ['approval_rule_not_found'],
  },
  setApprovalRule: {
    text: 'Creates or replaces an approval rule: 201 or 200. Matching actions that no other stage denies then need approval. Requests that are already open keep the rule that opened them. With `If-Match`, a rule that is another one than was read, or that is gone, is 412; without, the last writer wins.',
  },
  removeApprovalRule: {
    text: 'Removes an approval rule. Requests that it opened stay open.',
    problems: ['approval_rule_not_found'],
  },
  listApprovals: {
    text: 'Lists approval requests, newest first, filtered by status and agent. A credential sees the requests of its own agent only.',
    problems: ['agent_mismatch'],
  },
  streamApprovals: {
    text: 'Streams approval events as server-sent events, each with the sequence number of its entry as `id`. A client that reconnects with `Last-Event-ID` misses nothing.',
    problems: ['ledger_pruned'],
  },
  getApproval: {
    text: 'Returns one approval request in any state. With `wait` the answer is held for up to 55 seconds while the request is pending.',
    problems: ['approval_not_found'],
  },
  decideApproval: {
    text: 'Casts a vote on a pending request. The same vote again is 200; another vote, or a vote on a closed request, is 409. The requester cannot vote where a rule prevents self-approval.',
    problems: ['approval_not_found', 'approval_closed', 'already_voted', 'approver_not_eligible'],
  },
  cancelApproval: {
    text: 'Withdraws a pending request. A credential withdraws requests of its own agent only; others are 404.',
    problems: ['approval_not_found', 'approval_closed'],
  },
  revokeApproval: {
    text: 'Revokes an approval that no decision has used yet.',
    problems: ['approval_not_found', 'approval_not_usable', 'approver_not_eligible'],
  },

  // Endpoints that agent hosts and the MCP gateway call.
  claudeCodeHook: {
    text: 'Takes the input of a hook of Claude Code and returns its output. `PreToolUse` is decided, `PermissionRequest` gets the decision of its call, `PostToolUse` and `PostToolUseFailure` report the outcome. Other events get an empty object. An error is never 200, so that a hook with `onFailure: "block"` blocks.',
    problems: ['agent_mismatch', 'quota_exceeded'],
  },
  codexHook: {
    text: 'Takes the input of a hook of Codex and returns its output, as `POST /v1/hooks/claude-code` does. Codex runs commands as hooks, so `remit-sdk hook codex` calls this endpoint.',
    problems: ['agent_mismatch', 'quota_exceeded'],
  },
  litellmGuardrail: {
    text: 'Implements the Generic Guardrail API of LiteLLM. The guard checks the texts; tool calls are decided where the plan of the organization has decisions.',
    problems: ['agent_mismatch', 'quota_exceeded'],
  },
  listMcpTools: {
    text: 'Lists the tools of MCP servers with their definitions, oldest first. Filters combine.',
  },
  reportMcpTools: {
    text: 'Reports what `tools/list` of a server returned. A new tool waits for an administrator, unless the server had none and `trust` is `first-use`. A changed definition withdraws the tool until it is admitted again. A definition that the guard scores 0.99 or higher is never admitted by a report.',
    problems: ['too_many_mcp_tools'],
  },
  admitMcpTool: {
    text: 'Admits the definition with this digest. The gateway lets calls pass within 30 seconds. `mapping: "declared"` pins the mapping that the definition declares in `x-authzen-mapping` (AuthZEN binding for MCP): action and resource of its calls come from there, unless the configuration of the gateway has a mapping. A later definition needs a new admission.',
    problems: ['mcp_tool_not_found', 'mcp_tool_changed'],
  },
  reviewMcpTool: {
    text: 'Records that an administrator looked at the findings of the guard in the definition with this digest and found them harmless. It admits nothing, and a later definition needs a new review.',
    problems: ['mcp_tool_not_found', 'mcp_tool_changed'],
  },
  withdrawMcpTool: {
    text: 'Withdraws a tool. The gateway refuses its calls within 30 seconds.',
    problems: ['mcp_tool_not_found'],
  },
  listInventory: {
    text: 'Lists what `remit discover` reported last for each host.',
  },
  reportInventory: {
    text: 'Keeps what `remit discover` found on a host, in the place of an earlier report, and records it.',
    problems: ['too_many_hosts'],
  },

  // The organization, its keys, its webhooks, its sinks and its ledger.
  getOrganization: {
    text: 'Returns the organization of the key with all its settings.',
  },
  changeOrganization: {
    text: 'Changes settings. Omitted settings do not change, and `null` restores a default. The change applies to every decision after the response.',
  },
  getSession: {
    text: 'Returns the caller of the session cookie or key, its organization, and the endpoints of this server that it may call. Without a valid session, `principal` is null. The console shows what this lists.',
  },
  startSession: {
    text: 'Exchanges an ingest key for a session cookie. The session has the rights of the key and ends with it, after an hour without a request, and after twelve hours. Only pages of this server can sign in.',
    problems: ['unauthorized', 'csrf_refused', 'key_login_off', 'rate_limited'],
  },
  endSession: {
    text: 'Ends the session on every process of the installation and removes the cookie. For a person whose identity provider has its own sign-out, `Location` is its URL.',
    problems: ['csrf_refused'],
  },
  listPeople: {
    text: 'Lists the people of the organization, oldest first.',
  },
  invitePerson: {
    text: 'Invites a person. The first sign-in with this address, verified by the identity provider, makes the person active; from then on the issuer and its subject identify the person. No e-mail is sent.',
    problems: ['person_exists', 'too_many_people'],
  },
  changePerson: {
    text: 'Changes a person. A new role or `disabled` ends the sessions of the person on every process before the response.',
    problems: ['person_not_found', 'last_admin', 'role_managed'],
  },
  removePerson: {
    text: 'Removes a person and ends their sessions before the response. Their votes and entries remain.',
    problems: ['person_not_found', 'last_admin'],
  },
  getLoginProvider: {
    text: 'Returns the OpenID provider that signs the people of the organization in, without the secret of the client.',
    problems: ['login_provider_not_found'],
  },
  setLoginProvider: {
    text: 'Sets the OpenID provider of the organization. From then on, its people sign in with this provider only. The server reads the metadata of the issuer and the TXT records of the domains before it stores them. With another issuer, people are found by their verified address at their next sign-in, and the sessions of all other people end.',
  },
  removeLoginProvider: {
    text: 'Removes the OpenID provider of the organization and ends the sessions of all other people. People sign in with the provider of the server, if it has one.',
    problems: ['login_provider_not_found'],
  },
  getUsage: {
    text: 'Returns the usage of past hours. It is counted from the ledger, so that an export can confirm every count: each row names its entries. The last hour appears some minutes after its end.',
  },
  listKeys: {
    text: 'Lists the ingest keys of the organization, including revoked ones. Secrets and their hashes are never shown.',
  },
  createKey: {
    text: 'Creates an ingest key. `secret` is shown once; a repeat under the same Idempotency-Key has `secret: null`.',
  },
  rotateKey: {
    text: 'Replaces a key with a new one that has the same role, person and name. The old key is revoked before the response.',
    problems: ['key_not_found'],
  },
  revokeKey: {
    text: 'Revokes a key on every process of the installation. The last key that can administer the organization cannot be revoked.',
    problems: ['key_not_found', 'last_admin_key'],
  },
  listWebhooks: {
    text: 'Lists the webhooks of the organization. Their secrets are never shown again.',
  },
  createWebhook: {
    text: 'Creates a webhook. Events are sent as Standard Webhooks messages, signed with `secret`, which is shown once. The URL must be https on port 443 of the public internet.',
    problems: ['too_many_webhooks'],
  },
  getWebhook: {
    text: 'Returns one webhook with the number of pending messages and the last delivery.',
    problems: ['webhook_not_found'],
  },
  deleteWebhook: {
    text: 'Deletes a webhook and its undelivered messages.',
    problems: ['webhook_not_found'],
  },
  listDeliveries: {
    text: 'Lists the messages for a webhook with every attempt, newest first. Deliveries are kept for 7 days after they ended.',
    problems: ['webhook_not_found'],
  },
  redeliver: {
    text: 'Sends a message again, whatever its state; the receiver recognizes the repeat by the same `webhook-id`. Poll the deliveries for the result.',
    problems: ['webhook_not_found', 'delivery_not_found'],
  },
  testWebhook: {
    text: 'Sends a message of the type `webhook.test`, signed like every other one, and records `webhook.tested` in the ledger. A disabled webhook receives nothing.',
    problems: ['webhook_not_found'],
  },
  listSinks: {
    text: 'Lists the sinks of the organization with their progress. Secrets of targets are never shown.',
  },
  createSink: {
    text: 'Creates a sink. It receives every entry of `kinds` from `from_seq` on, in order and at least once; a sink that cannot send stops and never skips. The receiver must be https or TLS on the public internet, unless the operator allows private networks.',
    problems: ['too_many_sinks'],
  },
  getSink: {
    text: 'Returns one sink with its watermark, the number of entries that it has yet to examine, and its last error.',
    problems: ['sink_not_found'],
  },
  changeSink: {
    text: 'Changes a sink. `target` replaces the whole target. `from_seq` sends again, or skips on purpose; the entry `sink.updated` records it. Any change retries at once.',
    problems: ['sink_not_found'],
  },
  deleteSink: {
    text: 'Deletes a sink. What it has not sent is not sent.',
    problems: ['sink_not_found'],
  },
  testSink: {
    text: 'Sends one record of the kind `test` in the format of the sink and waits for the result. The record is not an entry of the ledger.',
    problems: ['sink_not_found'],
  },
  listEntries: {
    text: 'Lists ledger entries by the given filters, newest first unless `order=asc`. `head` is the last entry of the ledger. Pruned entries return 410.',
    problems: ['agent_mismatch', 'ledger_pruned'],
  },
  appendEntry: {
    text: 'Appends an entry of the kind `entry.appended`. `cost_usd` counts as spend; with `decision_id` it settles the amount that the decision held, once.',
    problems: ['decision_not_found', 'decision_settled', 'agent_mismatch', 'scope_required'],
  },
  getCheckpoint: {
    text: 'Returns the newest checkpoint: a C2SP signed note with the size and the Merkle root of the ledger. Keep copies outside of the installation to detect a rollback.',
  },
  getConsistency: {
    text: 'Proves that the newer tree contains all entries of the older one (RFC 6962). Both sizes must be between 1 and the size of the ledger.',
    problems: ['size_not_signed', 'ledger_pruned'],
  },
  listLedgerKeys: {
    text: 'Lists the keys that have signed checkpoints of the ledger, with the entries at which they began and ended. The ledger itself names these keys: pin the first one that you see, and accept another one only with its rotation.',
  },
  streamEntries: {
    text: 'Streams new entries as server-sent events, from the end of the ledger or after `after_seq`. The id of an event is the sequence number, and its name is the kind. Entries arrive within a second of their commit. The stream ends with the key or session.',
    problems: ['overloaded'],
  },
  exportEntries: {
    text: 'Streams the ledger as NDJSON for offline verification with `remit-verify`. An interrupted export resumes with `after_seq`.',
    problems: ['ledger_pruned'],
  },
  getEntry: {
    text: 'Returns one entry with its payload. An erased payload is `data: null`.',
    problems: ['ledger_entry_not_found', 'ledger_pruned'],
  },
  getProof: {
    text: 'Proves that an entry is in the ledger: a C2SP tlog-proof with the signed checkpoint. The default `size` is that of the newest tree.',
    problems: ['ledger_entry_not_found', 'size_not_signed', 'ledger_pruned'],
  },

  // Agents, credentials, trust and issuers.
  listAgents: {
    text: 'Lists the registered agents.',
  },
  registerAgent: {
    text: 'Registers an agent. Its id is never given again, not even after a removal.',
    problems: ['agent_exists', 'too_many_agents', 'subject_taken', 'issuer_not_found'],
  },
  getAgent: {
    text: 'Returns one registered agent. `ETag` is its version.',
    problems: ['agent_not_found'],
  },
  changeAgent: {
    text: 'Changes the given members of an agent. `status: "suspended"` denies every decision about it at once, `status: "active"` ends that. With `If-Match` an outdated change is 412.',
    problems: ['agent_not_found', 'subject_taken'],
  },
  removeAgent: {
    text: 'Removes an agent for good and revokes all its credentials. Decisions about it are denied from then on.',
    problems: ['agent_not_found'],
  },
  listCredentials: {
    text: 'Lists the credentials of an agent, newest first. Secrets and their hashes are never shown.',
    problems: ['agent_not_found'],
  },
  issueCredential: {
    text: 'Issues a credential that acts as this agent alone. `secret` is shown once. `rotate` replaces another credential, which keeps working for `overlap_seconds`.',
    problems: [
      'agent_not_found',
      'credential_not_found',
      'credential_ended',
      'agent_suspended',
      'too_many_credentials',
      'invalid_scope',
    ],
  },
  revokeCredential: {
    text: 'Revokes a credential on every process of the installation.',
    problems: ['credential_not_found'],
  },
  introspectCredential: {
    text: 'Tells a tool whether a credential that it received is valid, and whose it is (RFC 7662). An unknown, expired or foreign credential is `active: false`.',
  },
  revokeByText: {
    text: 'Revokes a credential by its text (RFC 7009). The answer is 200 for unknown credentials too.',
  },
  listTrustPolicies: {
    text: 'Lists the trust policies, disabled ones too.',
  },
  createTrustPolicy: {
    text: 'Creates a trust policy. A deny beats every allow, and without a matching policy the answer is deny.',
    problems: ['too_many_trust_policies'],
  },
  deleteTrustPolicy: {
    text: 'Deletes a trust policy. No decision after the answer follows it.',
    problems: ['trust_policy_not_found'],
  },
  evaluateTrust: {
    text: 'Decides whether one registered agent may act towards another, and records the decision. A credential asks for its own agent only, as source or as target.',
    problems: ['agent_mismatch'],
  },
  listIssuers: {
    text: 'Lists the trusted issuers with the state of their keys.',
  },
  trustIssuer: {
    text: 'Trusts an issuer: its tokens can be exchanged for credentials under the given conditions. An issuer cannot be changed, only removed and trusted anew. `validate=true` checks the terms and fetches no keys.',
    problems: ['issuer_exists', 'too_many_issuers'],
  },
  removeIssuer: {
    text: 'Removes a trusted issuer and revokes every credential that its tokens were exchanged for.',
    problems: ['issuer_not_found'],
  },
  authorizationServer: {
    text: 'Returns the metadata of the OAuth endpoints (RFC 8414, section 2). It needs no key. It is 404 where `REMIT_BASE_URL` is not https, except on loopback.',
    problems: ['not_found'],
  },
  exchangeToken: {
    text: 'Exchanges a token of a trusted issuer for a short credential (RFC 8693), as form or JSON. Refusals have the members `error` and `error_description` of RFC 6749, section 5.2, beside those of a problem.',
    problems: ['invalid_grant', 'invalid_scope', 'invalid_target', 'unsupported_grant_type'],
  },

  // Scorers, the guard, compliance reports, dry-runs and verification.
  runScorer: {
    text: 'Scores up to 1,000 results with one scorer. A result that cannot be scored has `score: null` and its error, and never counts as 0. The statistics are over the scored results.',
    problems: ['scorer_not_found', 'invalid_params'],
  },
  listScorers: {
    text: 'Lists the scorers of this installation with their parameters as JSON Schema.',
  },
  checkContent: {
    text: 'Checks a text or a conversation for prompt injection, secrets, personal data, invisible characters and canaries. Offsets are UTF-16 indices into the original text. It is a filter, not a security boundary.',
    problems: ['agent_mismatch'],
  },
  createReport: {
    text: 'Generates a compliance report from the ledger. Returns 201 with the report, or 202 with `status: "generating"` and its `Location` if it takes longer than five seconds. The hash of the report is recorded in the ledger.',
  },
  listReports: {
    text: 'Lists the reports of the organization, newest first, without their content.',
  },
  getReport: {
    text: 'Returns one report as JSON, CSV, HTML or OSCAL. `Content-Digest` and `csv_sha256` verify a stored copy against the ledger.',
    problems: ['report_not_found', 'report_not_ready', 'report_changed'],
  },
  listReportEvidence: {
    text: 'Lists the entries behind a control or a check of a report, computed again from the ledger.',
    problems: ['report_not_found', 'report_not_ready', 'report_changed', 'ledger_pruned'],
  },
  dryRunPolicies: {
    text: 'Returns the decisions that `POST /v1/authorize` would make, for one request or up to 1,000, now or at another time, optionally with other policy rules. Nothing changes; one entry records the dry-run.',
    problems: ['too_many_broad_rules'],
  },
  replayPolicies: {
    text: 'Replays recorded decisions of a period under the current rules and an overlay, and counts those that change. One request replays up to 100,000 decisions; `next_cursor` continues.',
    problems: ['rules_changed', 'too_many_broad_rules', 'ledger_pruned'],
  },
  verifyLedger: {
    text: 'Verifies hashes, Merkle tree, signatures and stored reports. Returns 200 even for an invalid ledger; see `valid` and `errors`. `not_checked` lists the limits of the result.',
  },
} satisfies Record<EndpointName, OperationText>

/** Documentation by name of the endpoint. */
export const OPERATIONS: Readonly<Record<string, OperationText>> = ALL
