import type { Migration } from 'kysely/migration'
import { sql } from 'kysely'
import { column } from '@remit/core/db'
import type { ArchiveRules, CoreTables, Placements } from '@remit/core/db'
import { approvalMigration, askersMigration } from './approvals.ts'
import type { ApprovalTables } from './approvals.ts'
import { delegationMigration } from './delegation.ts'
import type { DelegationTables } from './delegation.ts'
import { observedRuleMigration, policyMigration, policyVersionMigration } from './policies.ts'
import type { PolicyTables } from './policies.ts'
import { policySetMigration } from './policy-sets.ts'
import type { PolicySetTables } from './policy-sets.ts'
import { hookMigration } from './hooks.ts'
import type { HookTables } from './hooks.ts'
import { judgeDayMigration, judgeMigration } from './judges.ts'
import type { JudgeTables } from './judges.ts'
import { mcpToolMappingMigration, mcpToolMigration, mcpToolReviewMigration } from './mcp-tools.ts'
import type { McpTables } from './mcp-tools.ts'
import { sinkMigration } from './sinks.ts'
import type { SinkTables } from './sinks.ts'
import { webhookFormatMigration, webhookHistoryMigration, webhookMigration } from './webhooks.ts'
import type { WebhookTables } from './webhooks.ts'

/** The totals of a UTC day at the end of one of its hours (`2026-11-20T08`), for charts only. */
export type SpendHourRow = {
  org_id: string
  agent_id: string
  hour: string
  spent_micro: number
  held_micro: number
}

const spendHourMigration: Migration = {
  async up(db) {
    const { text, integer, clustered } = column(db)
    await sql`create table spend_hour (
      org_id ${text} not null, agent_id ${text} not null, hour ${text} not null,
      spent_micro ${integer} not null, held_micro ${integer} not null,
      primary key (org_id, agent_id, hour)) ${clustered}`.execute(db)
    await sql`create index spend_hour_by_age on spend_hour (hour)`.execute(db)
  },
}

/** Rows of this module's tables; money is integer micro-USD. */
export type Tables = CoreTables &
  ApprovalTables &
  DelegationTables &
  HookTables &
  JudgeTables &
  McpTables &
  PolicyTables &
  PolicySetTables &
  SinkTables &
  WebhookTables & {
    budget: BudgetRow
    spend_limit: SpendLimitRow
    spend_total: SpendTotalRow
    spend_hold: SpendHoldRow
    agent_stop: AgentStopRow
    spend_hour: SpendHourRow
  }

export type SpendLimitRow = {
  org_id: string
  agent_id: string
  hourly_micro: number | null
  daily_micro: number | null
  monthly_micro: number | null
  on_missing_amount: string
  hold_ttl_seconds: number | null
  settlement_by_agent: string
  created_at: string
  created_by: string
  updated_at: string
}

/** Totals of a window: a UTC hour (`2026-11-20T08`), day (`2026-11-20`) or month (`2026-11`). */
export type SpendTotalRow = {
  org_id: string
  agent_id: string
  window_id: string
  spent_micro: number
  held_micro: number
}

/** The hold of an allowed decision, and its state. */
export type SpendHoldRow = {
  org_id: string
  decision_id: string
  agent_id: string
  /** The UTC day of the decision; its month is the first seven characters. */
  day: string
  /** The UTC hour; null if the release before wrote it. */
  hour: string | null
  held_micro: number
  state: 'held' | 'settled' | 'expired'
  expires_at: string | null
  /** JSON of `Charge[]`, the charges to budgets; null for none. */
  charges: string | null
  /** The next time at which one of its charges ends. */
  charges_until: string | null
}

/** A budget; `document` is JSON of its input. */
export type BudgetRow = {
  org_id: string
  id: string
  /** Names its counters: a later budget of the same id has another. */
  uid: string
  parent_id: string | null
  document: string
  revision: number
  created_at: string
  created_by: string
  updated_at: string
}

/** `reason` is empty if none was given. */
export type AgentStopRow = { org_id: string; agent_id: string; reason: string; stopped_at: string }

const foundation: Migration = {
  async up(db) {
    const { text, integer, clustered } = column(db)
    await sql`create table spend_limit (
      org_id ${text} not null, agent_id ${text} not null, daily_micro ${integer}, monthly_micro ${integer},
      on_missing_amount ${text} not null, hold_ttl_seconds ${integer}, created_at ${text} not null,
      created_by ${text} not null, updated_at ${text} not null, primary key (org_id, agent_id))`.execute(
      db,
    )
    await sql`create table spend_total (
      org_id ${text} not null, agent_id ${text} not null, window_id ${text} not null,
      spent_micro ${integer} not null, held_micro ${integer} not null,
      primary key (org_id, agent_id, window_id)) ${clustered}`.execute(db)
    await sql`create table spend_hold (
      org_id ${text} not null, decision_id ${text} not null, agent_id ${text} not null, day ${text} not null,
      held_micro ${integer} not null, state ${text} not null default 'held', expires_at ${text},
      primary key (org_id, decision_id)) ${clustered}`.execute(db)
    await sql`create index spend_hold_by_expiry on spend_hold (org_id, agent_id, expires_at)
      where state = 'held' and expires_at is not null`.execute(db)
    await sql`create table agent_stop (
      org_id ${text} not null, agent_id ${text} not null, reason ${text} not null, stopped_at ${text} not null,
      primary key (org_id, agent_id))`.execute(db)
  },
}

const settlementMigration: Migration = {
  async up(db) {
    await sql`alter table spend_limit
      add column settlement_by_agent ${column(db).text} not null default 'at_least_held'`.execute(
      db,
    )
  },
}

const hourlyCapMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`alter table spend_limit add column hourly_micro ${integer}`.execute(db)
    await sql`alter table spend_hold add column hour ${text}`.execute(db)
    // Hours are deleted soon.
    await sql`create index spend_total_hours on spend_total (window_id)
      where length(window_id) = 13`.execute(db)
  },
}

const openHoldsMigration: Migration = {
  async up(db) {
    // Settled holds and those of no amount stay, and soon outnumber the others.
    await sql`create index spend_hold_open on spend_hold (org_id, decision_id)
      where state = 'held' and held_micro > 0`.execute(db)
  },
}

const budgetMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table budget (
      org_id ${text} not null, id ${text} not null, uid ${text} not null, parent_id ${text},
      document ${text} not null, revision ${integer} not null, created_at ${text} not null,
      created_by ${text} not null, updated_at ${text} not null, primary key (org_id, id))`.execute(
      db,
    )
    await sql`alter table spend_hold add column charges ${text}`.execute(db)
    await sql`alter table spend_hold add column charges_until ${text}`.execute(db)
    await sql`create index spend_hold_charges on spend_hold (org_id, charges_until)
      where charges_until is not null`.execute(db)
  },
}

export const migrations: Readonly<Record<string, Migration>> = {
  '0001_foundation': foundation,
  '0002_policies': policyMigration,
  '0003_delegation': delegationMigration,
  '0004_approvals': approvalMigration,
  '0005_webhooks': webhookMigration,
  '0006_judge_verdicts': judgeMigration,
  '0007_approval_askers': askersMigration,
  '0008_settlement_by_agent': settlementMigration,
  '0009_judge_days': judgeDayMigration,
  '0010_policy_versions': policyVersionMigration,
  '0011_webhook_history': webhookHistoryMigration,
  '0012_spend_hours': spendHourMigration,
  '0013_open_holds': openHoldsMigration,
  '0014_mcp_tools': mcpToolMigration,
  '0015_hooks': hookMigration,
  '0016_sinks': sinkMigration,
  '0017_mcp_tool_mappings': mcpToolMappingMigration,
  '0018_webhook_formats': webhookFormatMigration,
  '0019_mcp_tool_reviews': mcpToolReviewMigration,
  '0020_observed_rules': observedRuleMigration,
  '0021_policy_sets': policySetMigration,
  '0022_hourly_caps': hourlyCapMigration,
  '0023_budgets': budgetMigration,
}

/** The placement of this module's tables on a cluster. */
export const placements: Placements<Omit<Tables, keyof CoreTables>> = {
  approval_rule: 'by org_id',
  approval_request: 'by org_id',
  agent_permission: 'by org_id',
  agent_mode: 'by org_id',
  hook_call: 'by org_id',
  inventory: 'by org_id',
  judge_verdict: 'by org_id',
  judge_day: 'by org_id',
  mcp_tool: 'by org_id',
  policy_rule: 'by org_id',
  policy_revision: 'by org_id',
  policy_set: 'by org_id',
  policy_set_object: 'by org_id',
  budget: 'by org_id',
  spend_limit: 'by org_id',
  spend_total: 'by org_id',
  spend_hold: 'by org_id',
  agent_stop: 'by org_id',
  spend_hour: 'by org_id',
  webhook: 'by org_id',
  webhook_delivery: 'by org_id',
  sink: 'by org_id',
}

/** The columns of this module's tables that the archive of an organization contains. */
export const archive: ArchiveRules<Omit<Tables, keyof CoreTables>> = {
  approval_rule: 'whole',
  approval_request: 'whole',
  agent_permission: 'whole',
  agent_mode: 'whole',
  hook_call: 'none',
  inventory: 'whole',
  judge_verdict: 'none',
  judge_day: 'whole',
  mcp_tool: 'whole',
  policy_rule: 'whole',
  policy_revision: 'whole',
  policy_set: 'whole',
  policy_set_object: 'whole',
  budget: 'whole',
  spend_limit: 'whole',
  spend_total: 'whole',
  spend_hold: 'whole',
  agent_stop: 'whole',
  spend_hour: 'none',
  webhook: { without: ['secret'] },
  webhook_delivery: 'none',
  sink: { without: ['secret', 'holder', 'held_until'] },
}
