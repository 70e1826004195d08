import type { CoreTables } from '@remit/core'
import type { Migration } from 'kysely/migration'
import { evaluationMigration, reportMigration } from './report/schema.ts'
import type { ReportTables } from './report/schema.ts'
import { heartbeatMigration, watchMigration } from './watch/schema.ts'
import type { WatchTables } from './watch/schema.ts'

/** Rows of this module's tables. */
export type Tables = CoreTables & ReportTables & WatchTables

export const migrations: Readonly<Record<string, Migration>> = {
  '0001_reports': reportMigration,
  '0002_watch': watchMigration,
  '0003_evaluation': evaluationMigration,
  '0004_heartbeat': heartbeatMigration,
}
