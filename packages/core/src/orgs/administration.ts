import type { Plan, Receipt, Role } from '@remit/contract'
import type { Database } from '../db/open.ts'
import type { CoreTables, OrganizationRow } from '../db/schema.ts'
import { fail, invalid } from '../base/errors.ts'
import { keyCreation, keyRevocation, keyRotation } from '../keys/changes.ts'
import type { EntryData } from '../ledger/format/draft.ts'
import { firstOf } from '../ledger/write/work.ts'
import type { Change, WorkOrigin } from '../ledger/write/work.ts'
import type { Writer } from '../ledger/write/writer.ts'
import { actorOf, personOf } from '../caller/caller.ts'
import { organizationRecord, checkRetention } from './organizations.ts'
import { changeSettings, settingsOf } from './settings.ts'
import type { OrganizationRecord } from './organizations.ts'
import { changeLimits, limitsOf, limitsOnPlan } from '../limits/limits.ts'
import { quotaEntries } from '../limits/month.ts'

/** The origin of work for the operator of the server, without an API caller. */
export const OPERATOR: WorkOrigin = { caller: null, claim: null, wantsNote: false }

/** Creates a key of an organization for the operator; the secret is only in the return value. */
export async function createKey(
  writer: Writer,
  orgId: string,
  options: { role: Role; person?: string | null; name?: string | null },
): Promise<{ id: string; secret: string }> {
  const { key, secret } = await writer.change(orgId, OPERATOR, keyCreation(options))
  return { id: key.id, secret }
}

export async function endKey(
  writer: Writer,
  orgId: string,
  id: string,
): Promise<{ id: string; revoked_at: string }> {
  const { revoked_at } = await writer.change(orgId, OPERATOR, keyRevocation(id))
  return { id, revoked_at }
}

export async function rotateKey(
  writer: Writer,
  orgId: string,
  id: string,
): Promise<{ id: string; secret: string }> {
  const { key, secret } = await writer.change(orgId, OPERATOR, keyRotation(id))
  return { id: key.id, secret }
}

/** Further members of the entry, such as the reason and the name of the operator's key. */
export type EntryExtras = Pick<
  EntryData<'organization.updated'>,
  'acknowledge_short_retention' | 'reason' | 'operator'
>

/** A changed organization, and the position of the entry that records the change. */
export interface OrganizationUpdate {
  readonly organization: OrganizationRecord
  readonly receipt: Receipt
}

/** Changes the plan of an organization; the next decision uses it. */
export const setPlan = (
  writer: Writer,
  orgId: string,
  plan: Plan,
  noted: EntryExtras = {},
): Promise<OrganizationRecord> =>
  updateForOperator(writer, orgId, noted, (row) => ({ ...row, plan }))

/** A change of the plan and the limits; null removes a limit. */
export interface PlanChange {
  readonly plan?: Plan | undefined
  readonly limits?: Readonly<Record<string, unknown>>
}

/** Changes plan and limits for the operator of a hosted server; a new plan brings its limits. */
export const changePlanAndLimits = (
  writer: Writer,
  orgId: string,
  { plan, limits = {} }: PlanChange,
  noted: EntryExtras = {},
): Promise<OrganizationRecord> =>
  updateForOperator(writer, orgId, noted, (row) => {
    const to = plan ?? (row.plan as Plan)
    const stored =
      to === row.plan ? limitsOf(row) : limitsOnPlan(limitsOf(row), row.plan as Plan, to)
    return { ...row, plan: to, limits: changeLimits(JSON.stringify(stored), limits) }
  })

/** Changes the limits of an organization for the operator; null removes one. */
export const setLimits = (
  writer: Writer,
  orgId: string,
  change: Readonly<Record<string, unknown>>,
  noted: EntryExtras = {},
): Promise<OrganizationRecord> =>
  updateForOperator(writer, orgId, noted, (row) => ({
    ...row,
    limits: changeLimits(row.limits, change),
  }))

/** Suspends an organization, which can then only read; no effect on a suspended one. */
export const suspendOrganization = (
  writer: Writer,
  orgId: string,
  noted: EntryExtras = {},
): Promise<OrganizationRecord> =>
  updateForOperator(writer, orgId, noted, (row, recordedAt) => ({
    ...row,
    suspended_at: row.suspended_at ?? recordedAt,
  }))

/** Ends the suspension of an organization, and cancels its deletion. */
export const resumeOrganization = (
  writer: Writer,
  orgId: string,
  noted: EntryExtras = {},
): Promise<OrganizationRecord> =>
  updateForOperator(writer, orgId, noted, (row) => ({
    ...row,
    suspended_at: null,
    delete_after: null,
  }))

export interface SettingsOptions {
  /** Confirms a retention below the legal minimum; recorded in the entry. */
  readonly acknowledgeShortRetention?: boolean | undefined
}

/** Calls `updateSettings` for the operator. */
export const setSettings = async (
  writer: Writer,
  orgId: string,
  change: Readonly<Record<string, unknown>>,
  options: SettingsOptions = {},
): Promise<OrganizationRecord> =>
  (await updateSettings(writer, orgId, OPERATOR, change, options)).organization

/**
 * Changes settings; `null` restores a default. Throws like `changeSettings` and `checkRetention`.
 */
export const updateSettings = async (
  writer: Writer,
  orgId: string,
  origin: WorkOrigin,
  change: Readonly<Record<string, unknown>>,
  options: SettingsOptions = {},
): Promise<OrganizationUpdate> => writer.change(orgId, origin, settingsChange(change, options))

/** The change of settings, for `Writer.change`; see `updateSettings`. */
export function settingsChange(
  change: Readonly<Record<string, unknown>>,
  { acknowledgeShortRetention = false }: SettingsOptions = {},
): Change<OrganizationUpdate> {
  checkRetention(change['retention_days'], acknowledgeShortRetention)
  const update = (row: OrganizationRow) => {
    checkLimit(change['retention_days'], limitsOf(row).retention_days)
    return { ...row, settings: changeSettings(row.settings, change) }
  }
  const noted = acknowledgeShortRetention ? { acknowledge_short_retention: true } : {}
  return organizationChange(update, noted)
}

function checkLimit(days: unknown, most: number | undefined): void {
  if (most === undefined || typeof days !== 'number' || days <= most) return
  throw invalid('settings.retention_days', `must be at most ${most} for this organization`)
}

/** The row of an organization after a change at a time. */
type Update = (row: OrganizationRow, recordedAt: string) => OrganizationRow

/** Changes the row of an organization for the operator of the server; see `organizationChange`. */
export const updateForOperator = async (
  writer: Writer,
  orgId: string,
  noted: EntryExtras,
  update: Update,
): Promise<OrganizationRecord> =>
  (await writer.change(orgId, OPERATOR, organizationChange(update, noted))).organization

/** Changes the row of an organization in a configuration change, and records it. */
const organizationChange =
  (update: Update, noted: EntryExtras = {}): Change<OrganizationUpdate> =>
  async ({ tx, orgId, recordedAt, decided }, caller) => {
    const before = await findOrganizationById(tx, orgId)
    const row = update(before, recordedAt)
    const { plan, settings, limits, suspended_at, delete_after } = row
    await tx
      .updateTable('organization')
      .set({ plan, settings, limits, suspended_at, delete_after })
      .where('id', '=', orgId)
      .execute()
    const organization = organizationRecord(row)
    return {
      entries: [
        {
          kind: 'organization.updated',
          actor: actorOf(caller),
          replaced: settingsOf(before),
          data: { organization, ...noted, ...personOf(caller) },
        },
        ...quotaEntries(
          { limit: limitsOf(before).decisions_per_month ?? null, decided },
          { limit: limitsOf(row).decisions_per_month ?? null, decided },
          recordedAt,
        ),
      ],
      reply: (recorded) => ({ organization, receipt: firstOf(recorded).receipt }),
    }
  }

/** Returns the row of an organization; throws if it does not exist. */
export async function findOrganizationById(
  db: Database<CoreTables>,
  id: string,
): Promise<OrganizationRow> {
  const row = await db
    .selectFrom('organization')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw fail('organization_not_found', `The organization ${id} does not exist`)
  return row
}
