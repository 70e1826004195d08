import type { CoreTables } from '@remit/core'
import type { Migration } from 'kysely/migration'
import { evaluationMigration, reportMigration } from './reports.ts'
import type { ReportTables } from './reports.ts'
import { statMigration } from './stats.ts'
import type { StatTables } from './stats.ts'
import { heartbeatMigration, watchMigration } from './watch.ts'
import type { WatchTables } from './watch.ts'

/** Rows of this module's tables. */
export type Tables = CoreTables & ReportTables & StatTables & WatchTables

export const migrations: Readonly<Record<string, Migration>> = {
  '0001_reports': reportMigration,
  '0002_watch': watchMigration,
  '0003_evaluation': evaluationMigration,
  '0004_heartbeat': heartbeatMigration,
  '0005_stats': statMigration,
}
