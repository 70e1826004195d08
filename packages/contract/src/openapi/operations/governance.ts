import type { OperationText } from './operation-text.ts'

/** Decisions, rules, approvals and spend. */
export const governanceOperations = {
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
} satisfies Record<string, OperationText>
