import type { Issuer, IssuerTerms } from '@remit/contract'
import type { TrustedIssuerRow } from '../tables/issuers.ts'

/** A record for exchanges. */
export interface TrustedIssuer {
  readonly orgId: string
  readonly id: string
  readonly issuer: string
  readonly terms: IssuerTerms
}

export const toTrustedIssuer = ({
  org_id,
  id,
  issuer,
  terms,
}: TrustedIssuerRow): TrustedIssuer => ({
  orgId: org_id,
  id,
  issuer,
  // Validated when it was written; immutable.
  terms: JSON.parse(terms) as IssuerTerms,
})

/** Returns whether tokens of the issuer are accepted at a time (milliseconds). */
export const isLive = ({ terms }: TrustedIssuer, now: number): boolean =>
  terms.enabled && (terms.expires_at === null || now < Date.parse(terms.expires_at))

/** A record in API and ledger form. */
export const toIssuer = (row: TrustedIssuerRow): Omit<Issuer, 'ledger'> => ({
  id: row.id,
  ...toTrustedIssuer(row).terms,
  keys: { count: row.key_count, fetched_at: row.fetched_at, error: row.fetch_error },
  created_at: row.created_at,
  created_by: row.created_by,
})
