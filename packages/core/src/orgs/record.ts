import type { OrganizationLimits, OrganizationSettings, Plan } from '@remit/contract'
import type { OrganizationRow } from '../db/schema.ts'
import { limitsOf } from '../limits/limits.ts'
import { settingsOf } from './settings.ts'

/** An organization as in the API and in entries. */
export interface OrganizationRecord {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly settings: OrganizationSettings
  /** Absent without any. */
  readonly limits?: OrganizationLimits
  readonly suspended_at?: string
  /** When the operator may remove all rows; absent unless a deletion is scheduled. */
  readonly delete_after?: string
  readonly created_at: string
}

export const organizationRecord = (row: OrganizationRow): OrganizationRecord => ({
  id: row.id,
  name: row.name,
  plan: row.plan as Plan,
  settings: settingsOf(row),
  ...(row.limits !== '{}' && { limits: limitsOf(row) }),
  ...(row.suspended_at !== null && { suspended_at: row.suspended_at }),
  ...(row.delete_after !== null && { delete_after: row.delete_after }),
  created_at: row.created_at,
})
