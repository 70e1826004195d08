import type { Credential, CredentialStatus, Scope } from '@remit/contract'
import type { CredentialRow } from '../tables/credentials.ts'
import type { UsedCredential } from './store.ts'

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
