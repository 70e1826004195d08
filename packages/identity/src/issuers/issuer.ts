import type { Issuer, IssuerTerms, ClaimCondition } from '@remit/contract'
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

type Claims = Readonly<Record<string, unknown>>

/** Returns whether a token's claims satisfy all conditions. A missing claim satisfies none. */
export const passesAll = (conditions: readonly ClaimCondition[], claims: Claims): boolean =>
  failing(conditions, claims) === undefined

/** The first condition that a token's claims do not satisfy. */
export const failing = (
  conditions: readonly ClaimCondition[],
  claims: Claims,
): ClaimCondition | undefined => conditions.find((condition) => !passes(condition, claims))

function passes(condition: ClaimCondition, claims: Claims): boolean {
  const { claim } = condition
  if (!Object.hasOwn(claims, claim)) return false
  const value = claims[claim]
  if (!isPlain(value)) return false
  // Without conversion: "65" is not 65.
  if ('equals' in condition) return value === condition.equals
  if ('in' in condition) return condition.in.includes(value)
  return typeof value === 'string' && value.startsWith(condition.prefix)
}

const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)
