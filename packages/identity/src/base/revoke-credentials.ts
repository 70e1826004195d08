import { on } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Tables } from '../tables/schema.ts'

/** The time and principal of a revocation. */
export interface Revocation {
  readonly at: string
  readonly by: string
}

/** Revokes the live credentials of an agent or of an issuer. Returns their ids, sorted. */
export async function revokeCredentials(
  db: AnyDatabase,
  orgId: string,
  of: { readonly agent_id: string } | { readonly idp_id: string },
  { at, by }: Revocation,
): Promise<string[]> {
  const [column, value] =
    'agent_id' in of ? (['agent_id', of.agent_id] as const) : (['idp_id', of.idp_id] as const)
  const rows = await on<Tables>(db)
    .updateTable('agent_credential')
    .set({ revoked_at: at, revoked_by: by })
    .where('org_id', '=', orgId)
    .where(column, '=', value)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', at)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id).toSorted()
}

/** The ids that one entry has room for; many credentials need several. */
export const IDS_AN_ENTRY = 500

/** Entries for the revoked credentials that do not fit into the entry of a removal. */
export function furtherRevoked(
  ids: readonly string[],
  { data, ...head }: Omit<EntryDraft<'credential.revoked'>, 'kind'>,
): EntryDraft[] {
  const entries: EntryDraft[] = []
  for (let at = IDS_AN_ENTRY; at < ids.length; at += IDS_AN_ENTRY) {
    const credential_ids = ids.slice(at, at + IDS_AN_ENTRY)
    entries.push({ kind: 'credential.revoked', ...head, data: { ...data, credential_ids } })
  }
  return entries
}
