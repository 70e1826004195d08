import type { Reason } from '@remit/contract'

/** The reason why the record of a decision does not list a rule as matching. */
export type Outcome =
  | 'condition'
  | 'resource'
  | 'either'
  | 'before'
  | 'denied'
  | 'decided'
  | 'changed'
  | 'unknown'

export const decisions = {
  title: 'Decision',
  none: 'The ledger has no such decision',
  noneText: 'The id is wrong, or the entries of the decision were pruned.',
  outcome: 'What was decided',
  request: 'The request',
  noContext: 'The request had no context.',
  exact: 'Exact text',
  erased: 'The content of the entry was erased. Its hash and proofs remain valid.',
  rules: 'Rules',
  noRules: 'No rule named this agent and action.',
  outcomes: {
    condition: 'did not match: its condition was not true',
    resource: 'did not match: it is for other resources',
    either: 'did not match: its resources or its condition',
    before: 'not tried: the decision was made before',
    denied: 'not decisive: the policies denied',
    decided: 'not decisive: another policy allowed',
    changed: 'changed since: its history has the version of then',
    unknown: 'not recorded',
  } satisfies Record<Outcome, string>,
  fromRecord:
    'Matches are recorded. The other results follow from the record, for rules that are unchanged since; nothing is evaluated again.',
  others: (n: number) =>
    n === 0
      ? ''
      : n === 1
        ? 'One rule for other agents or actions is not listed.'
        : `${n} rules for other agents or actions are not listed.`,
  rule: 'Rule',
  kind: 'Kind',
  result: 'Result',
  kinds: {
    policy: 'Policy',
    approval_rule: 'Approval rule',
    spend_limit: 'Spend limit',
    permission: 'Permission',
    agent: 'Agent',
  } as Readonly<Record<string, string>>,
  changed: 'changed since',
  deleted: 'deleted since',
  of: (spent: string, cap: string, window: string) => `${spent} of ${cap} ${window}`,
  today: 'today',
  thisMonth: 'this month',
  votes: 'Approval and votes',
  asked: 'The decision that asked',
  used: 'The allow that used the approval',
  deciders: 'Who decided',
  vote: 'Vote',
  comment: 'Reason',
  cost: 'Cost and result',
  amount: 'Amount asked for',
  held: 'Held',
  settled: 'Reported cost',
  reported: 'Reported result',
  nothing: 'Nothing was reported about this decision yet.',
  story: 'In the order of the ledger',
  entries: 'Entries',
  reasons: {
    default_allow: 'No rule denies this action, and the organization allows what no rule denies.',
    default_deny: 'No rule allows this action, and the organization denies what no rule allows.',
    policy_allow: 'A policy allows this action.',
    policy_deny: 'A policy denies this action.',
    policy_error: 'The condition of a policy could not be evaluated, so the request was denied.',
    approved: 'People approved exactly this request.',
    permission_grant: 'A permission of the agent grants this action.',
    agent_denied: 'The agent is not registered, and unregistered agents may not act.',
    agent_suspended: 'The agent is stopped.',
    agent_removed: 'The agent was removed.',
    no_permission: 'The agent acts by permissions alone, and none grants this action.',
    spend_limit_daily: 'The amount would exceed the limit of the day.',
    spend_limit_monthly: 'The amount would exceed the limit of the month.',
    spend_unavailable: 'The spend of the agent could not be read, so the request was denied.',
    amount_invalid: 'The amount of the request is missing or no valid amount.',
    context_unseen: 'A rule reads a part of the context that the server could not see.',
    approval_required: 'An approval rule asks people to decide.',
    approval_rejected: 'People rejected this request.',
    approval_backlog: 'Too many requests of the agent wait for approval.',
    stage_unavailable: 'A stage of the decision did not answer, so the request was denied.',
    unmappable: 'The call could not be mapped to an action.',
    self_test: 'A self-test of an integration, which decides nothing.',
  } satisfies Record<Reason, string> as Readonly<Record<string, string>>,
} as const
