import type { Plan, Role } from '@remit/contract'
import { isoTime } from '../clock.ts'
import { fail } from '../errors.ts'
import { generateKey } from '../keys/key-text.ts'
import type { NewKey } from '../keys/key-text.ts'
import { insertKey, revokeKey } from '../keys/store.ts'
import type { Requester } from '../ledger/work.ts'
import type { Writer } from '../ledger/writer.ts'
import { SYSTEM } from './organizations.ts'

/** Work that the operator of the server asks for, not a caller of the API. */
export const OPERATOR: Requester = { caller: null, claim: null, wantsNote: false }

/** A new key of an organization, with its entry; the secret is in the answer only. */
export function createKey(writer: Writer, orgId: string, options: { role: Role; person?: string | null; name?: string | null }): Promise<NewKey> {
  const key = generateKey()
  const shown = { id: key.id, role: options.role, person: options.person ?? null, name: options.name ?? null }
  return writer.change(orgId, OPERATOR, async ({ tx, now }) => {
    await insertKey(tx, { ...shown, org_id: orgId, hash: key.hash, created_at: isoTime(now), revoked_at: null })
    return { entries: [{ kind: 'key.created', actor: SYSTEM, data: { key: shown } }], reply: () => key }
  })
}

/** Ends a key: no request with it is carried out from the next commit on. */
export function endKey(writer: Writer, orgId: string, id: string): Promise<{ id: string; revoked_at: string }> {
  return writer.change(orgId, OPERATOR, async ({ tx, recordedAt }) => {
    if (!(await revokeKey(tx, orgId, id, recordedAt))) throw fail('not_found', `There is no live key ${id}`)
    return { entries: [{ kind: 'key.revoked', actor: SYSTEM, data: { key_id: id } }], reply: () => ({ id, revoked_at: recordedAt }) }
  })
}

/** A successor with the same role and person; the old key ends in the same transaction. */
export function rotateKey(writer: Writer, orgId: string, id: string): Promise<NewKey> {
  const key = generateKey()
  return writer.change(orgId, OPERATOR, async ({ tx, recordedAt }) => {
    const old = await tx.selectFrom('ingest_key').selectAll().where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst()
    if (!old || !(await revokeKey(tx, orgId, id, recordedAt))) throw fail('not_found', `There is no live key ${id}`)
    const { role, person, name } = old
    await insertKey(tx, { id: key.id, org_id: orgId, hash: key.hash, role, person, name, created_at: recordedAt, revoked_at: null })
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

/** Moves an organization to another plan; the next decision follows it. */
export function setPlan(writer: Writer, orgId: string, plan: Plan): Promise<{ id: string; plan: Plan }> {
  return writer.change(orgId, OPERATOR, async ({ tx }) => {
    await tx.updateTable('organization').set({ plan }).where('id', '=', orgId).execute()
    return { entries: [{ kind: 'organization.updated', actor: SYSTEM, data: { organization: { id: orgId, plan } } }], reply: () => ({ id: orgId, plan }) }
  })
}
