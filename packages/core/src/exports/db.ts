export type { ArchiveRules } from '../db/archived.ts'
export { Cleanup, deleteInBatches } from '../db/cleanup.ts'
export { organizationOfId, recordId } from '../db/directory.ts'
export { isDistributed } from '../db/distributed.ts'
export type { Placement, Placements } from '../db/distributed.ts'
export { isUnavailable, unavailable } from '../db/failure.ts'
export { orgTable, organizationTables } from '../db/org-table.ts'
export type { ListOptions, Where } from '../db/org-table.ts'
export { eachPart, inPart, organizationIds } from '../db/parts.ts'
export type { Part } from '../db/parts.ts'
export { column, dialectOf, on, statement, makeDurable } from '../db/portable.ts'
export type { AnyDatabase, Dialect } from '../db/portable.ts'
export type {
  CoreTables,
  LedgerCheckpointRow,
  LedgerEntryRow,
  LedgerHeadRow,
  OrganizationRow,
} from '../db/schema.ts'
export { bulkInsert, writeRows } from '../db/write-rows.ts'
export type { BulkInsert } from '../db/write-rows.ts'
