import type { OrganizationSettings, Plan } from '@remit/contract'
import type { OrganizationRow } from '../db/schema.ts'
import { settingsOf } from './settings.ts'

/** An organization as in the API and in entries. */
export interface OrganizationRecord {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly settings: OrganizationSettings
  readonly created_at: string
}

export const organizationRecord = (row: OrganizationRow): OrganizationRecord => ({
  id: row.id,
  name: row.name,
  plan: row.plan as Plan,
  settings: settingsOf(row),
  created_at: row.created_at,
})
