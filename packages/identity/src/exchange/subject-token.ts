import { SIGNATURE_ALGS } from '@remit/contract'
import type { SignatureAlg } from '@remit/contract'
import { parseStrictJson } from '@remit/core'
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
/** The allowed header members: others could name key locations or critical extensions. */
const HEADERS: ReadonlySet<string> = new Set(['alg', 'kid', 'typ', 'x5t', 'x5t#S256'])

/** An own member by name. */
export const own = (members: JsonMembers, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined

/** Parses a compact JWS (RFC 7515 §3.1) without verifying it; throws `TokenRefusal`. */
export function readSubjectToken(text: string): SubjectToken {
  const parts = text.split('.', 4)
  if (text.length > MAX_LENGTH || parts.length !== 3) throw new TokenRefusal('malformed')
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
  if (!ALGS.has(alg)) throw new TokenRefusal('alg')
  if (!Object.keys(header).every((name) => HEADERS.has(name))) throw new TokenRefusal('header')
  const kid = own(header, 'kid')
  if (typeof kid !== 'string' || kid === '' || kid.length > MAX_KID)
    throw new TokenRefusal('header')
  const typ = own(header, 'typ')
  if (typ !== undefined && typeof typ !== 'string') throw new TokenRefusal('typ')
  return { alg: alg as SignatureAlg, kid, typ: typ ?? null }
}
