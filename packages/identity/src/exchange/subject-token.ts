import { SIGNATURE_ALGS, MAX_SUBJECT_BYTES } from '@remit/contract'
import type { SignatureAlg, IssuerTerms } from '@remit/contract'
import { parseStrictJson } from '@remit/contract/json'
import { TokenRefusal } from './refusals.ts'

/** Members of a JSON object; read with `own` only, since a name may be inherited. */
export type JsonMembers = Readonly<Record<string, unknown>>

/** A parsed token, not verified yet. */
export interface SubjectToken {
  readonly text: string
  readonly alg: SignatureAlg
  readonly kid: string
  readonly typ: string | null
  readonly claims: JsonMembers
}

const MAX_LENGTH = 16 * 1024
const MAX_DEPTH = 8
const MAX_KID = 256
const ALGS: ReadonlySet<unknown> = new Set(SIGNATURE_ALGS)
/**
 * Refused header members: they name keys, require an extension, or change how the payload is read.
 * Unknown ones are ignored (RFC 7515 §4).
 */
const REFUSED_HEADERS = ['b64', 'crit', 'jku', 'jwk', 'x5c', 'x5u', 'zip']

export const own = (members: JsonMembers, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined

/** Parses a compact JWS (RFC 7515 §3.1) without verifying it; throws `TokenRefusal`. */
export function readSubjectToken(text: string): SubjectToken {
  const parts = text.split('.', 4)
  if (text.length > MAX_LENGTH)
    throw new TokenRefusal('malformed', { length: text.length }, { length: { max: MAX_LENGTH } })
  if (parts.length !== 3) throw new TokenRefusal('malformed')
  const [header, payload, signature] = parts.map(decode)
  if (!header || !payload || !signature || signature.length === 0)
    throw new TokenRefusal('malformed')
  return { text, ...checkHeader(parse(header)), claims: parse(payload) }
}

/** Only the canonical encoding: a token must not have two texts. */
function decode(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url')
  if (bytes.toString('base64url') !== part) throw new TokenRefusal('malformed')
  return bytes
}

function parse(bytes: Buffer): JsonMembers {
  let value: unknown
  try {
    value = parseStrictJson(bytes, { maxDepth: MAX_DEPTH, refuseNul: true })
  } catch {
    throw new TokenRefusal('malformed')
  }
  if (Array.isArray(value)) throw new TokenRefusal('malformed')
  return value as JsonMembers
}

function checkHeader(header: JsonMembers): Pick<SubjectToken, 'alg' | 'kid' | 'typ'> {
  const alg = own(header, 'alg')
  if (!ALGS.has(alg)) throw new TokenRefusal('alg', { alg }, { alg: SIGNATURE_ALGS })
  for (const name of REFUSED_HEADERS)
    if (Object.hasOwn(header, name))
      throw new TokenRefusal('header', { [name]: header[name] }, { [name]: null })
  const kid = own(header, 'kid')
  if (typeof kid !== 'string' || kid === '' || kid.length > MAX_KID)
    throw new TokenRefusal('header', { kid }, { kid: `1 to ${MAX_KID} characters` })
  const typ = own(header, 'typ')
  if (typ !== undefined && typeof typ !== 'string')
    throw new TokenRefusal('typ', { typ }, { typ: 'a text' })
  return { alg: alg as SignatureAlg, kid, typ: typ ?? null }
}

/** The claims of a token; times are seconds since 1970. */
export interface TokenFacts {
  readonly subject: string
  readonly jti: string | null
  readonly expiresAt: number
}

/** A credential with less time is useless. */
const MIN_SECONDS_LEFT = 30
const TEXT_RULE = `1 to ${MAX_SUBJECT_BYTES} bytes, without control and format characters`
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** The issuer of a token: compared as text, never normalized. */
export function issuerOf(claims: JsonMembers): string {
  const issuer = own(claims, 'iss')
  if (typeof issuer !== 'string')
    throw new TokenRefusal('iss', { iss: issuer }, { iss: 'the text of a trusted issuer' })
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
  const { allowed_algs, allowed_typ } = terms
  if (!allowed_algs.includes(alg)) throw new TokenRefusal('alg', { alg }, { allowed_algs })
  if (!allowed_typ.some((allowed) => isSameType(allowed, typ)))
    throw new TokenRefusal('typ', { typ }, { allowed_typ })
  const expiresAt = checkTimes(claims, terms, now)
  const subject = own(claims, 'sub')
  if (!isText(subject)) throw new TokenRefusal('sub', { sub: subject }, { sub: TEXT_RULE })
  const jti = own(claims, 'jti')
  if (jti === undefined ? terms.require_jti : !isText(jti))
    // Not its text, which entries have as a hash only.
    throw new TokenRefusal(
      'jti',
      { jti: jti === undefined ? null : typeof jti },
      { jti: TEXT_RULE },
    )
  // A security event is not a login (RFC 8417 §2.2), and a bound token is not a bearer's (RFC 7800).
  for (const name of ['events', 'cnf'] as const) {
    const claim = own(claims, name)
    if (claim !== undefined) throw new TokenRefusal(name, { [name]: claim }, { [name]: null })
  }
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
  if (!isTime(exp) || exp - now < MIN_SECONDS_LEFT)
    throw new TokenRefusal('exp', { exp }, { exp: { min: now + MIN_SECONDS_LEFT } })
  if (!isTime(iat) || iat > now + skew)
    throw new TokenRefusal('iat', { iat }, { iat: { max: now + skew } })
  if (exp <= iat || exp - iat > maxAge)
    throw new TokenRefusal(
      'life',
      { exp, iat, seconds: exp - iat },
      { max_token_age_seconds: maxAge },
    )
  if (nbf !== undefined && (!isTime(nbf) || nbf > now + skew))
    throw new TokenRefusal('nbf', { nbf }, { nbf: { max: now + skew } })
  return exp
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0

const isText = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  Buffer.byteLength(value) <= MAX_SUBJECT_BYTES &&
  !CONTROL.test(value)

/** Media types are case-insensitive, and their common prefix is optional (RFC 7515 §4.1.9). */
const isSameType = (a: string | null, b: string | null): boolean =>
  a === null || b === null ? a === b : shortType(a) === shortType(b)

const shortType = (type: string): string => type.toLowerCase().replace(/^application\//, '')
