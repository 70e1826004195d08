import { SIGNATURE_ALGS } from '@remit/contract'
import type { SignatureAlg } from '@remit/contract'
import { parseStrictJson } from '@remit/contract/json'
import { TokenRefusal } from './refusal.ts'

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

/** An own member by name. */
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
