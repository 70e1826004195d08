import type { OrganizationSettings } from '@remit/contract'

/** The effect of each setting, in one sentence. */
export const SETTING_TEXTS: Readonly<Record<keyof OrganizationSettings, string>> = {
  default_effect: 'The decision when no policy matches.',
  unknown_agents: 'Whether agents that are not registered may act.',
  four_eyes: 'The key that requested an approval cannot decide it.',
  require_separate_keys:
    'Only keys with the role approver, which cannot authorize, decide approvals.',
  require_agent_credentials:
    'Agents act with their own credentials only, never with an ingest key.',
  credentials_per_agent: 'Live credentials that one agent may have.',
  keyless_exchange: 'Tokens of trusted issuers can be exchanged without an ingest key.',
  consequential_actions: 'Patterns of actions that reports count as consequential, one per line.',
  at_monthly_limit:
    'Beyond the monthly limit of decisions: deny refuses requests, overage goes on and counts them.',
  retention_days: 'Days for which ledger entries cannot be pruned.',
}
