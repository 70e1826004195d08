import type { Scope } from '@remit/contract'
import { isoTime } from '@remit/core/base'
import { generateText, publicPart } from '@remit/core/keys'
import type { LedgerScope } from '@remit/core/ledger/lanes'
import type { Hasher } from './hasher.ts'
import type { CredentialRow } from '../tables/credentials.ts'
import { insertCredential } from './store.ts'

export interface NewCredential {
  readonly agentId: string
  readonly scopes: readonly Scope[]
  /** Milliseconds. */
  readonly expiresAt: number
  readonly issuedBy: string
  readonly name?: string | null
  readonly rotatedFrom?: string
  /** For a token exchange: the trusted issuer, and the token's subject. */
  readonly exchange?: { readonly idpId: string; readonly subject: string }
}

/** A new credential with its text, which is stored nowhere. */
export interface Minted {
  readonly row: CredentialRow
  readonly secret: string
}

/** Creates a credential within the transaction that records it. Limits must be checked before. */
export async function mint(
  { tx, orgId, recordedAt }: LedgerScope,
  hasher: Hasher,
  { agentId, scopes, expiresAt, issuedBy, name = null, rotatedFrom, exchange }: NewCredential,
): Promise<Minted> {
  const prefix = exchange ? 'rmf_' : 'rmc_'
  const secret = generateText(prefix)
  const row: CredentialRow = {
    id: `cred_${publicPart(secret)}`,
    org_id: orgId,
    agent_id: agentId,
    prefix,
    ...hasher.hash(secret),
    scopes: JSON.stringify(scopes.toSorted()),
    name,
    source: exchange ? 'exchange' : 'issued',
    idp_id: exchange?.idpId ?? null,
    subject: exchange?.subject ?? null,
    issued_by: issuedBy,
    created_at: recordedAt,
    expires_at: isoTime(expiresAt),
    rotated_from: rotatedFrom ?? null,
    revoked_at: null,
    revoked_by: null,
    refused_at: null,
  }
  await insertCredential(tx, row)
  return { row, secret }
}
