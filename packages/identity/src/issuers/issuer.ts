import type { Issuer, IssuerTerms } from '@remit/contract'
import type { TrustedIssuerRow } from '../tables/issuers.ts'

/** A record as exchanges read it. */
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
  // It was checked when it was written, and never changes.
  terms: JSON.parse(terms) as IssuerTerms,
})

/** Whether tokens of the issuer are taken at a time (milliseconds). */
export const isLive = ({ terms }: TrustedIssuer, now: number): boolean =>
  terms.enabled && (terms.expires_at === null || now < Date.parse(terms.expires_at))

/** A record as it is served and recorded. */
export const toIssuer = (row: TrustedIssuerRow): Omit<Issuer, 'ledger'> => ({
  id: row.id,
  ...toTrustedIssuer(row).terms,
  keys: { count: row.key_count, fetched_at: row.fetched_at, error: row.fetch_error },
  created_at: row.created_at,
  created_by: row.created_by,
})
