import type { ArchiveRules, CoreTables, Placements } from '@remit/core/db'
import type { Migration } from 'kysely/migration'
import { evaluationMigration, reportMigration } from './reports.ts'
import type { ReportTables } from './reports.ts'
import { statMigration } from './stats.ts'
import type { StatTables } from './stats.ts'
import { usageMigration } from './usage.ts'
import type { UsageTables } from './usage.ts'
import { heartbeatMigration, watchMigration } from './watch.ts'
import type { WatchTables } from './watch.ts'

/** Rows of this module's tables. */
export type Tables = CoreTables & ReportTables & StatTables & UsageTables & WatchTables

export const migrations: Readonly<Record<string, Migration>> = {
  '0001_reports': reportMigration,
  '0002_watch': watchMigration,
  '0003_evaluation': evaluationMigration,
  '0004_heartbeat': heartbeatMigration,
  '0005_stats': statMigration,
  '0006_usage': usageMigration,
}

/** The placement of this module's tables on a cluster. */
export const placements: Placements<Omit<Tables, keyof CoreTables>> = {
  compliance_report: 'by org_id',
  stat_bucket: 'by org_id',
  stat_progress: 'by org_id',
  usage_hour: 'by org_id',
  usage_progress: 'by org_id',
  process_lease: 'local',
  ledger_watch: 'by org_id',
}

/** The columns of this module's tables that the archive of an organization contains. */
export const archive: ArchiveRules<Omit<Tables, keyof CoreTables | 'process_lease'>> = {
  compliance_report: { without: ['claim_key', 'claim_hash', 'held_until'] },
  stat_bucket: 'none',
  stat_progress: 'none',
  usage_hour: 'whole',
  usage_progress: 'none',
  ledger_watch: 'none',
}
