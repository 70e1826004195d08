import { isoTime } from '@remit/core/base'
import type { TimePlace } from '@remit/core/base'
import { bulkInsert, isDistributed, on, orgTable, recordId } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Credential, CredentialStatus, Scope } from '@remit/contract'
import type { Revocation } from '../base/revoke-credentials.ts'
import type { Tables } from '../tables/schema.ts'
import type { CredentialRow, CredentialUseRow } from '../tables/credentials.ts'

/** A credential with the time of its last use. */
export type UsedCredential = CredentialRow & { readonly used_at: string | null }

const credentials = (db: AnyDatabase) => on<Tables>(db).selectFrom('agent_credential')

const { find, insert, change } = orgTable<Tables, 'agent_credential'>('agent_credential', 'id')

export const findCredential = find

export async function insertCredential(db: AnyDatabase, row: CredentialRow): Promise<void> {
  await insert(db, row)
  await recordId(db, row.id, row.org_id)
}

/** Credentials of an agent, newest first. `at`: the time for the status. */
export async function listCredentials(
  db: AnyDatabase,
  orgId: string,
  agentId: string,
  query: {
    readonly limit: number
    readonly before: TimePlace | null
    readonly status?: 'active' | 'expired' | 'revoked' | undefined
    readonly at: string
  },
): Promise<UsedCredential[]> {
  const { before, status, at } = query
  let found = on<Tables>(db)
    .selectFrom('agent_credential as c')
    .leftJoin('credential_use as u', (join) =>
      join.onRef('u.org_id', '=', 'c.org_id').onRef('u.id', '=', 'c.id'),
    )
    .selectAll('c')
    .select('u.used_at')
    .where('c.org_id', '=', orgId)
    .where('c.agent_id', '=', agentId)
    .orderBy('c.created_at', 'desc')
    .orderBy('c.id', 'desc')
    .limit(query.limit)
  if (before) {
    found = found.where((row) =>
      row.or([
        row('c.created_at', '<', before.created_at),
        row.and([row('c.created_at', '=', before.created_at), row('c.id', '<', before.id)]),
      ]),
    )
  }
  if (status !== undefined) {
    found = found.where('c.revoked_at', status === 'revoked' ? 'is not' : 'is', null)
    if (status !== 'revoked')
      found = found.where('c.expires_at', status === 'active' ? '>' : '<=', at)
  }
  return found.execute()
}

/** The number of live credentials of an organization at a time: of one agent and source, or all. */
export async function countLive(
  db: AnyDatabase,
  orgId: string,
  at: string,
  of: { readonly agentId?: string; readonly source?: CredentialRow['source'] } = {},
): Promise<number> {
  let live = credentials(db)
    .select((row) => row.fn.countAll().as('count'))
    .where('org_id', '=', orgId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', at)
  if (of.agentId !== undefined) live = live.where('agent_id', '=', of.agentId)
  if (of.source !== undefined) live = live.where('source', '=', of.source)
  return Number((await live.executeTakeFirstOrThrow()).count)
}

/** Credentials issued by administrators after a time. */
export async function countIssuedSince(
  db: AnyDatabase,
  orgId: string,
  after: string,
): Promise<number> {
  const { count } = await credentials(db)
    .select((row) => row.fn.countAll().as('count'))
    .where('org_id', '=', orgId)
    .where('created_at', '>', after)
    .where('source', '=', 'issued')
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Moves the end of a credential forward. */
export async function endAt(
  db: AnyDatabase,
  orgId: string,
  id: string,
  expiresAt: string,
): Promise<void> {
  await on<Tables>(db)
    .updateTable('agent_credential')
    .set({ expires_at: expiresAt })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('expires_at', '>', expiresAt)
    .execute()
}

/** Revokes a credential; undefined if there is no unrevoked one. */
export const revoke = (
  db: AnyDatabase,
  orgId: string,
  id: string,
  { at, by }: Revocation,
): Promise<CredentialRow | undefined> =>
  change(db, orgId, id, { revoked_at: at, revoked_by: by }, { revoked_at: null })

const REFUSAL_REST_MS = 60_000

/**
 * Claims the record of a use after the end, once per minute and credential; returns whether it was
 * claimed.
 */
export async function claimRefusedUse(
  db: AnyDatabase,
  orgId: string,
  id: string,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await on<Tables>(db)
    .updateTable('agent_credential')
    .set({ refused_at: isoTime(now) })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where((row) =>
      row.or([
        row('refused_at', 'is', null),
        row('refused_at', '<=', isoTime(now - REFUSAL_REST_MS)),
      ]),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Writes the times of uses, never an earlier one. */
export async function putUses(db: AnyDatabase, uses: readonly CredentialUseRow[]): Promise<void> {
  // The key of a distributed table contains the organization.
  const key = (await isDistributed(db)) ? 'org_id, id' : 'id'
  await bulkInsert(
    db,
    'credential_use',
    { id: 'text', org_id: 'text', used_at: 'text' },
    // One order for all processes, so that they do not deadlock.
    uses.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    `on conflict (${key}) do update set used_at = excluded.used_at, org_id = excluded.org_id
      where credential_use.used_at < excluded.used_at`,
  )
}

export const scopesOf = (row: Pick<CredentialRow, 'scopes'>): Scope[] =>
  JSON.parse(row.scopes) as Scope[]

/** The status of a credential at a time (RFC 3339, UTC, milliseconds). */
export const statusAt = (
  { revoked_at, expires_at }: Pick<CredentialRow, 'revoked_at' | 'expires_at'>,
  at: string,
): CredentialStatus => {
  if (revoked_at !== null) return 'revoked'
  return at < expires_at ? 'active' : 'expired'
}

/** A credential in API and ledger form. */
export const wireCredential = (
  row: CredentialRow & Partial<Pick<UsedCredential, 'used_at'>>,
  at: string,
): Credential => ({
  id: row.id,
  agent_id: row.agent_id,
  name: row.name,
  // No pattern of keys matches it.
  display: `${row.prefix}…${row.id.slice(-4)}`,
  scopes: scopesOf(row),
  status: statusAt(row, at),
  source: row.source,
  idp_id: row.idp_id,
  issued_by: row.issued_by,
  created_at: row.created_at,
  expires_at: row.expires_at,
  rotated_from: row.rotated_from,
  revoked_at: row.revoked_at,
  revoked_by: row.revoked_by,
  last_used_at: row.used_at ?? null,
})
