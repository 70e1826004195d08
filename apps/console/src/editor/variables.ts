/** The variables of conditions of policies and approval rules. */
export const RULE_VARIABLES: readonly string[] = [
  'action',
  'action_properties',
  'agent',
  'agent_id',
  'amount_usd',
  'context',
  'now',
  'resource',
  'subject',
]

/** The variables of conditions of trust policies. */
export const TRUST_VARIABLES: readonly string[] = ['action', 'context', 'now', 'source', 'target']
