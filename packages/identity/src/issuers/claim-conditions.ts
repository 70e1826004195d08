import type { ClaimCondition } from '@remit/contract'

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
