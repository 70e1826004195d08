import type { OrganizationSettings } from '@remit/contract'

interface SettingText {
  readonly label: string
  /** The effect, in one sentence. */
  readonly text: string
  /** Warnings by value of the setting. */
  readonly warnings?: Readonly<Record<string, string>>
}

export const SETTING_TEXTS: Readonly<Record<keyof OrganizationSettings, SettingText>> = {
  default_effect: {
    label: 'Decision without a matching policy',
    text: 'The decision when no policy matches.',
    warnings: {
      allow:
        'Agents may do everything that no rule denies. To change it: add policies that allow what agents need, replay them, then choose deny.',
    },
  },
  unknown_agents: {
    label: 'Agents that are not registered',
    text: 'Whether agents that are not registered may act.',
    warnings: { allow: 'Anything with a key can act under any agent id.' },
  },
  four_eyes: {
    label: 'Four eyes',
    text: 'The key that requested an approval cannot decide it.',
  },
  rule_changes: {
    label: 'Changes of rules',
    text: 'Whether changes of rules need the approval of a second person: none, those that may allow more, or all. Here it can only become stricter.',
  },
  require_separate_keys: {
    label: 'Separate keys for approvals',
    text: 'Only keys with the role approver, which cannot authorize, decide approvals.',
  },
  require_agent_credentials: {
    label: 'Credentials of agents required',
    text: 'Agents act with their own credentials only, never with an ingest key.',
  },
  credentials_per_agent: {
    label: 'Credentials per agent',
    text: 'Live credentials that one agent may have.',
  },
  keyless_exchange: {
    label: 'Token exchange without a key',
    text: 'Tokens of trusted issuers can be exchanged without an ingest key.',
  },
  consequential_actions: {
    label: 'Consequential actions',
    text: 'Patterns of actions that reports count as consequential, one per line.',
  },
  at_monthly_limit: {
    label: 'At the monthly limit',
    text: 'Beyond the monthly limit of decisions: deny refuses requests, overage goes on and counts them.',
  },
  retention_days: {
    label: 'Retention (days)',
    text: 'Days for which ledger entries cannot be pruned.',
  },
}
