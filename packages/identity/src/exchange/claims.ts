import type { IssuerTerms } from '@remit/contract'
import { TokenRefusal } from './refusal.ts'
import { own } from './subject-token.ts'
import type { JsonMembers, SubjectToken } from './subject-token.ts'

/** The claims of a token; times are seconds since 1970. */
export interface TokenFacts {
  readonly subject: string
  readonly jti: string | null
  readonly expiresAt: number
}

/** A credential with less time is useless. */
const MIN_SECONDS_LEFT = 30
const MAX_TEXT = 255
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** The issuer of a token: compared as text, never normalized. */
export function issuerOf(claims: JsonMembers): string {
  const issuer = own(claims, 'iss')
  if (typeof issuer !== 'string') throw new TokenRefusal('iss')
  return issuer
}

/** The audiences of a token; null if missing or malformed. */
export function audiencesOf(claims: JsonMembers): readonly string[] | null {
  const claim = own(claims, 'aud')
  const audiences: unknown[] = Array.isArray(claim) ? claim : [claim]
  const all = audiences.every((one): one is string => typeof one === 'string')
  return all && audiences.length > 0 ? audiences : null
}

/** Returns whether the audiences of a token satisfy the terms of an issuer. */
export function isFor(
  audiences: readonly string[],
  { audiences: ours, allow_foreign_audiences: foreign }: IssuerTerms,
): boolean {
  const isOurs = (audience: string) => ours.includes(audience)
  return foreign ? audiences.some(isOurs) : audiences.every(isOurs)
}

/** Checks everything that needs no key; throws `TokenRefusal`. `now` in seconds. */
export function checkClaims(
  { alg, typ, claims }: SubjectToken,
  terms: IssuerTerms,
  now: number,
): TokenFacts {
  if (!terms.allowed_algs.includes(alg)) throw new TokenRefusal('alg')
  if (!terms.allowed_typ.some((allowed) => isSameType(allowed, typ))) throw new TokenRefusal('typ')
  const expiresAt = checkTimes(claims, terms, now)
  const subject = own(claims, 'sub')
  if (!isText(subject)) throw new TokenRefusal('sub')
  const jti = own(claims, 'jti')
  if (jti === undefined ? terms.require_jti : !isText(jti)) throw new TokenRefusal('jti')
  // A security event is not a login (RFC 8417 §2.2), and a bound token is not a bearer's (RFC 7800).
  if (own(claims, 'events') !== undefined) throw new TokenRefusal('events')
  if (own(claims, 'cnf') !== undefined) throw new TokenRefusal('cnf')
  return { subject, jti: (jti as string | undefined) ?? null, expiresAt }
}

function checkTimes(
  claims: JsonMembers,
  { clock_skew_seconds: skew, max_token_age_seconds: maxAge }: IssuerTerms,
  now: number,
): number {
  const exp = own(claims, 'exp')
  const iat = own(claims, 'iat')
  const nbf = own(claims, 'nbf')
  if (!isTime(exp) || exp - now < MIN_SECONDS_LEFT) throw new TokenRefusal('exp')
  if (!isTime(iat) || iat > now + skew) throw new TokenRefusal('iat')
  if (exp <= iat || exp - iat > maxAge) throw new TokenRefusal('life')
  if (nbf !== undefined && (!isTime(nbf) || nbf > now + skew)) throw new TokenRefusal('nbf')
  return exp
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TEXT && !CONTROL.test(value)

/** Media types are case-insensitive, and their common prefix is optional (RFC 7515 §4.1.9). */
const isSameType = (a: string | null, b: string | null): boolean =>
  a === null || b === null ? a === b : shortType(a) === shortType(b)

const shortType = (type: string): string => type.toLowerCase().replace(/^application\//, '')
