import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { component, integer, Plan, strictComponent, Timestamp, Usd } from './primitives.ts'
import { Pattern } from './rules.ts'

const Effect = z.enum(['allow', 'deny'], 'must be allow or deny')
const Flag = z.boolean('must be true or false')

/** Every setting of an organization, with its default. */
export const SETTINGS = {
  default_effect: Effect.default('allow').describe('the decision when no policy matches'),
  unknown_agents: Effect.default('allow').describe('true if unregistered agents may act'),
  four_eyes: Flag.default(false).describe('a key that requested an approval cannot decide it'),
  rule_changes: z
    .enum(
      ['direct', 'approve_weakening', 'approve_all'],
      'must be direct, approve_weakening or approve_all',
    )
    .default('direct')
    .describe(
      'changes of rules that need the approval of a second person and are made by policy sets: none, those that may allow more than before, or all. Emergency stops never need one',
    ),
  require_separate_keys: Flag.default(false).describe(
    'only keys with the role `approver`, which cannot authorize, may decide approvals',
  ),
  require_agent_credentials: Flag.default(false).describe(
    'agents can act only with their own credentials, not with an ingest key',
  ),
  credentials_per_agent: integer(1, 100)
    .default(10)
    .describe('live credentials that an agent may have, from 1 to 100'),
  keyless_exchange: Flag.default(false).describe(
    'true if tokens of trusted issuers can be exchanged without an ingest key',
  ),
  consequential_actions: z
    .array(Pattern, 'must be a list of patterns')
    .max(100, 'must be at most 100 patterns')
    .default([])
    .describe('patterns of actions that reports count as consequential'),
  retention_days: integer(1, 36_500)
    .default(400)
    .describe('days for which ledger entries cannot be pruned'),
  at_monthly_limit: z
    .enum(['deny', 'overage'], 'must be deny or overage')
    .default('deny')
    .describe(
      'beyond the monthly limit of decisions: `deny` refuses requests with 429, `overage` goes on and counts them',
    ),
} as const

/** Limits that the operator of the server sets; without a value there is none. */
export const LIMITS = {
  decisions_per_second: integer(1, 1_000_000)
    .optional()
    .describe('decisions a second; each process of the server counts its own'),
  decisions_per_month: integer(1, 1_000_000_000_000)
    .optional()
    .describe('decisions in a UTC calendar month'),
  agents: integer(1, 50_000).optional().describe('registered agents'),
  policies: integer(1, 1_000_000).optional().describe('policies'),
  budgets: integer(1, 1_000).optional().describe('budgets'),
  webhooks: integer(1, 20).optional().describe('webhooks'),
  judge_usd_per_day: Usd.optional().describe('USD of `llm_as_judge` on a UTC day'),
  retention_days: integer(1, 36_500)
    .optional()
    .describe('highest value of the setting `retention_days`'),
} as const

const L = LIMITS

/** Limits to change; null removes one, and omitted ones do not change. */
export const LimitsChange = z.strictObject({
  decisions_per_second: L.decisions_per_second.nullable(),
  decisions_per_month: L.decisions_per_month.nullable(),
  agents: L.agents.nullable(),
  policies: L.policies.nullable(),
  budgets: L.budgets.nullable(),
  webhooks: L.webhooks.nullable(),
  judge_usd_per_day: L.judge_usd_per_day.nullable(),
  retention_days: L.retention_days.nullable(),
})

export const OrganizationLimits = component('OrganizationLimits', LIMITS)
export type OrganizationLimits = z.infer<typeof OrganizationLimits>

/** Six months of 30.5 days: the minimum of Articles 19(1) and 26(6) of the EU AI Act. */
export const LEAST_RETENTION_DAYS = 183

export const OrganizationSettings = component('OrganizationSettings', SETTINGS)
export type OrganizationSettings = z.infer<typeof OrganizationSettings>

const { shape: S } = OrganizationSettings

/** Settings to change; null restores a default, and omitted ones do not change. */
const SettingsChange = z.strictObject({
  default_effect: S.default_effect.unwrap().nullable().optional(),
  unknown_agents: S.unknown_agents.unwrap().nullable().optional(),
  four_eyes: S.four_eyes.unwrap().nullable().optional(),
  rule_changes: S.rule_changes.unwrap().nullable().optional(),
  require_separate_keys: S.require_separate_keys.unwrap().nullable().optional(),
  require_agent_credentials: S.require_agent_credentials.unwrap().nullable().optional(),
  credentials_per_agent: S.credentials_per_agent.unwrap().nullable().optional(),
  keyless_exchange: S.keyless_exchange.unwrap().nullable().optional(),
  consequential_actions: S.consequential_actions.unwrap().nullable().optional(),
  retention_days: S.retention_days.unwrap().nullable().optional(),
  at_monthly_limit: S.at_monthly_limit.unwrap().nullable().optional(),
})

export const OrganizationChange = strictComponent('OrganizationChange', {
  settings: SettingsChange,
  acknowledge_short_retention: Flag.optional().describe(
    `required for retention_days below ${LEAST_RETENTION_DAYS}`,
  ),
})
export type OrganizationChange = z.infer<typeof OrganizationChange>

export const Organization = component('Organization', {
  id: z.string(),
  name: z.string(),
  plan: Plan,
  settings: OrganizationSettings,
  limits: OrganizationLimits.optional().describe(
    'Limits that the operator of the server has set; absent without any',
  ),
  suspended_at: Timestamp.optional().describe(
    'Start of the suspension, in which the organization can only read; absent without one',
  ),
  delete_after: Timestamp.optional().describe(
    'When the operator may remove the organization; absent unless a deletion is scheduled',
  ),
  decisions_this_month: z
    .int()
    .optional()
    .describe('Decisions of this UTC calendar month so far, which the monthly limit counts'),
  created_at: Timestamp,
  warnings: z.array(z.string()).optional().describe('Settings that may violate a law'),
  ledger: Receipt.optional(),
})
export type Organization = z.infer<typeof Organization>

export const organization = {
  getOrganization: endpoint('GET /v1/organization', {
    plan: 'team',
    roles: ['read', 'approver'],
    summary: 'Get the organization of the key',
    text: 'Returns the organization of the key with all its settings.',
    ok: Organization,
  }),
  changeOrganization: endpoint('PATCH /v1/organization', {
    plan: 'team',
    viaWriter: true,
    summary: 'Update the settings of the organization',
    text: 'Changes settings. Omitted settings do not change, and `null` restores a default. The change applies to every decision after the response.',
    problems: ['managed_by_policy_set', 'change_requires_approval', 'approver_missing'],
    body: OrganizationChange,
    ok: Organization,
  }),
}
