import type { OrganizationSettings, Plan, Receipt, Role } from '@remit/contract'
import { isoTime } from '../clock.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables, OrganizationRow } from '../db/schema.ts'
import { fail } from '../errors.ts'
import { generateKey } from '../keys/key-text.ts'
import type { NewKey } from '../keys/key-text.ts'
import { insertKey, revokeKey } from '../keys/store.ts'
import { firstOf } from '../ledger/work.ts'
import type { Requester } from '../ledger/work.ts'
import type { Writer } from '../ledger/writer.ts'
import { SYSTEM } from './organizations.ts'
import { changeSettings, settingsOf } from './settings.ts'

/** Work that the operator of the server asks for, not a caller of the API. */
export const OPERATOR: Requester = { caller: null, claim: null, wantsNote: false }

const SYSTEM_PRINCIPAL = { ...SYSTEM, person: null }

/** A new key of an organization, with its entry; the secret is in the answer only. */
export function createKey(
  writer: Writer,
  orgId: string,
  options: { role: Role; person?: string | null; name?: string | null },
): Promise<NewKey> {
  const key = generateKey()
  const shown = {
    id: key.id,
    role: options.role,
    person: options.person ?? null,
    name: options.name ?? null,
  }
  return writer.change(orgId, OPERATOR, async ({ tx, now }) => {
    await insertKey(tx, {
      ...shown,
      org_id: orgId,
      hash: key.hash,
      created_at: isoTime(now),
      revoked_at: null,
    })
    return {
      entries: [{ kind: 'key.created', actor: SYSTEM, data: { key: shown } }],
      reply: () => key,
    }
  })
}

/** Ends a key: no request with it is carried out from the next commit on. */
export function endKey(
  writer: Writer,
  orgId: string,
  id: string,
): Promise<{ id: string; revoked_at: string }> {
  return writer.change(orgId, OPERATOR, async ({ tx, recordedAt }) => {
    if (!(await revokeKey(tx, orgId, id, recordedAt)))
      throw fail('not_found', `There is no live key ${id}`)
    return {
      entries: [{ kind: 'key.revoked', actor: SYSTEM, data: { key_id: id } }],
      reply: () => ({ id, revoked_at: recordedAt }),
    }
  })
}

/** A successor with the same role and person; the old key ends in the same transaction. */
export function rotateKey(writer: Writer, orgId: string, id: string): Promise<NewKey> {
  const key = generateKey()
  return writer.change(orgId, OPERATOR, async ({ tx, recordedAt }) => {
    const old = await tx
      .selectFrom('ingest_key')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('id', '=', id)
      .executeTakeFirst()
    if (!old || !(await revokeKey(tx, orgId, id, recordedAt)))
      throw fail('not_found', `There is no live key ${id}`)
    const { role, person, name } = old
    await insertKey(tx, {
      id: key.id,
      org_id: orgId,
      hash: key.hash,
      role,
      person,
      name,
      created_at: recordedAt,
      revoked_at: null,
    })
    const data = { key: { id: key.id, role, person, name }, rotated_from: id }
    return {
      entries: [
        { kind: 'key.created', actor: SYSTEM, data },
        { kind: 'key.revoked', actor: SYSTEM, data: { key_id: id } },
      ],
      reply: () => key,
    }
  })
}

/** An organization as it is shown and recorded. */
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

/** A changed organization, and the place of the entry that records it. */
export interface OrganizationUpdate {
  readonly organization: OrganizationRecord
  readonly receipt: Receipt
}

/** Moves an organization to another plan; the next decision follows it. */
export const setPlan = async (
  writer: Writer,
  orgId: string,
  plan: Plan,
): Promise<OrganizationRecord> =>
  (await updateOrganization(writer, orgId, OPERATOR, (row) => ({ ...row, plan }))).organization

/** `updateSettings` by the operator. */
export const setSettings = async (
  writer: Writer,
  orgId: string,
  change: Readonly<Record<string, unknown>>,
): Promise<OrganizationRecord> =>
  (await updateSettings(writer, orgId, OPERATOR, change)).organization

/** Changes settings, `null` putting one back to its default; see `changeSettings` for what it refuses. */
export const updateSettings = (
  writer: Writer,
  orgId: string,
  requester: Requester,
  change: Readonly<Record<string, unknown>>,
): Promise<OrganizationUpdate> =>
  updateOrganization(writer, orgId, requester, (row) => ({
    ...row,
    settings: changeSettings(row.settings, change),
  }))

function updateOrganization(
  writer: Writer,
  orgId: string,
  requester: Requester,
  update: (row: OrganizationRow) => OrganizationRow,
): Promise<OrganizationUpdate> {
  return writer.change(orgId, requester, async ({ tx }, caller) => {
    const row = update(await findOrganizationById(tx, orgId))
    const { plan, settings } = row
    await tx.updateTable('organization').set({ plan, settings }).where('id', '=', orgId).execute()
    const organization = organizationRecord(row)
    const { type, id, person } = caller?.principal ?? SYSTEM_PRINCIPAL
    return {
      entries: [
        {
          kind: 'organization.updated',
          actor: { type, id },
          data: { organization, ...(person && { person }) },
        },
      ],
      reply: (recorded) => ({ organization, receipt: firstOf(recorded).receipt }),
    }
  })
}

/** The row of an organization that must be there. */
export async function findOrganizationById(
  db: Database<CoreTables>,
  id: string,
): Promise<OrganizationRow> {
  const row = await db
    .selectFrom('organization')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw fail('not_found', `There is no organization ${id}`)
  return row
}
