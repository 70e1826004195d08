import type { Receipt, Role } from '@remit/contract'
import { fail } from '../base/errors.ts'
import type { Caller } from '../caller/caller.ts'
import { actorOf, personOf, refuseAgents } from '../caller/caller.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import { firstOf } from '../ledger/write/work.ts'
import type { Change, LedgerScope } from '../ledger/write/work.ts'
import { generateKey } from './key-text.ts'
import { hasOtherAdmin, insertKey, revokeKey } from './store.ts'
import type { KeyRecord } from './store.ts'

/** A new key with its secret, which is not stored, and the position of its entry. */
export interface IssuedKey {
  readonly key: KeyRecord
  readonly secret: string
  readonly receipt: Receipt
}

export interface EndedKey {
  readonly id: string
  readonly revoked_at: string
  readonly receipt: Receipt
}

export const keyCreation =
  (options: { role: Role; person?: string | null; name?: string | null }): Change<IssuedKey> =>
  async (scope, caller) => {
    refuseAgents(caller)
    const { role, person = null, name = null } = options
    const { key, secret } = await addKey(scope, caller, { role, person, name })
    return {
      entries: [createdEntry(key, caller)],
      reply: (recorded) => ({ key, secret, receipt: firstOf(recorded).receipt }),
    }
  }

/** Revokes a key: from this commit on, no request with it is executed. */
export const keyRevocation =
  (id: string): Change<EndedKey> =>
  async (scope, caller) => {
    refuseAgents(caller)
    const key = await endLive(scope, id)
    // An operator can create another one with the command line; a caller could lock itself out.
    if (caller && !(await hasOtherAdmin(scope.tx, scope.orgId, id))) throw fail('last_admin_key')
    return {
      entries: [revokedEntry(key, caller)],
      reply: (recorded) => ({
        id,
        revoked_at: scope.recordedAt,
        receipt: firstOf(recorded).receipt,
      }),
    }
  }

/**
 * Creates a successor with the same role, person and name; the old key is revoked in the same
 * transaction.
 */
export const keyRotation =
  (id: string): Change<IssuedKey> =>
  async (scope, caller) => {
    refuseAgents(caller)
    const old = await endLive(scope, id)
    const { role, person, name } = old
    const { key, secret } = await addKey(scope, caller, { role, person, name })
    return {
      entries: [createdEntry(key, caller, { rotated_from: id }), revokedEntry(old, caller)],
      reply: (recorded) => ({ key, secret, receipt: firstOf(recorded).receipt }),
    }
  }

type Described = Pick<KeyRecord, 'role' | 'person' | 'name'>

async function addKey(
  { tx, orgId, recordedAt }: LedgerScope,
  caller: Caller | null,
  described: Described,
): Promise<Pick<IssuedKey, 'key' | 'secret'>> {
  const { id, hash, secret } = generateKey()
  const key = { id, ...described, created_at: recordedAt, revoked_at: null }
  await insertKey(tx, {
    ...key,
    org_id: orgId,
    hash,
    created_by: caller?.principal.id ?? null,
  })
  return { key, secret }
}

async function endLive({ tx, orgId, recordedAt }: LedgerScope, id: string): Promise<KeyRecord> {
  const key = await revokeKey(tx, orgId, id, recordedAt)
  if (!key) throw fail('key_not_found', `The key ${id} does not exist or is revoked`)
  return key
}

/**
 * Returns the entry of a new key. It identifies the author of later entries, as far as the key
 * names one.
 */
export const createdEntry = (
  key: KeyRecord,
  caller: Caller | null,
  more: { readonly rotated_from?: string } = {},
): EntryDraft => ({
  kind: 'key.created',
  actor: actorOf(caller),
  data: { key, ...more, ...personOf(caller) },
})

const revokedEntry = (key: KeyRecord, caller: Caller | null): EntryDraft => ({
  kind: 'key.revoked',
  actor: actorOf(caller),
  data: { key, key_id: key.id, ...personOf(caller) },
})
