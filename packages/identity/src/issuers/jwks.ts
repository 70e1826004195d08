import { isDeepStrictEqual } from 'node:util'
import type { SignatureAlg } from '@remit/contract'
import type { JWK } from 'jose'

/** Public keys by their `kid`. */
export type KeySet = ReadonlyMap<string, JWK>

/** The reason for missing keys; stable, for administrators. */
export class KeySetError extends Error {
  readonly code: string
  constructor(code: string) {
    super(code)
    this.name = 'KeySetError'
    this.code = code
  }
}

const MAX_KEYS = 100
const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 8192
/** 65537. With e = 1, signatures could be forged. */
const RSA_EXPONENT = 'AQAB'
const CURVES: ReadonlySet<unknown> = new Set(['P-256', 'P-384', 'P-521'])
const CURVE_OF: Readonly<Record<string, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
}

/**
 * The keys of a JWK set (RFC 7517) that can verify signatures. Private, symmetric, encryption and
 * weak keys, and different keys with the same `kid`, are omitted.
 */
export function keySetOf(document: unknown): KeySet {
  const listed = (document as { keys?: unknown } | null)?.keys
  if (!Array.isArray(listed)) throw new KeySetError('jwks_invalid')
  if (listed.length > MAX_KEYS) throw new KeySetError('too_many_keys')
  const keys = new Map<string, JWK>()
  const doubled = new Set<string>()
  for (const entry of listed as unknown[]) {
    const key = usable(entry)
    if (!key) continue
    const before = keys.get(key.kid)
    if (before && !isDeepStrictEqual(before, key)) doubled.add(key.kid)
    keys.set(key.kid, key)
  }
  for (const kid of doubled) keys.delete(kid)
  return keys
}

/** Returns whether a key is suitable for the algorithm, and not restricted to another. */
export function fits({ kty, crv, alg: only }: JWK, alg: SignatureAlg): boolean {
  if (only !== undefined && only !== alg && !(alg === 'EdDSA' && only === 'Ed25519')) return false
  if (alg === 'EdDSA') return kty === 'OKP'
  if (alg.startsWith('ES')) return kty === 'EC' && crv === CURVE_OF[alg]
  return kty === 'RSA'
}

/** The public members of a key; null for an unusable one. */
function usable(entry: unknown): (JWK & { kid: string }) | null {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return null
  const {
    kid,
    kty,
    use,
    key_ops: ops,
    alg,
    crv,
    n,
    e,
    x,
    y,
    d,
    k,
  } = entry as Record<string, unknown>
  if (typeof kid !== 'string' || kid === '' || kid.length > 256) return null
  if (d !== undefined || k !== undefined) return null
  // SPIFFE uses its own `use` value (JWT-SVID §3.2).
  if (use !== undefined && use !== 'sig' && use !== 'jwt-svid') return null
  if (ops !== undefined && !(Array.isArray(ops) && ops.includes('verify'))) return null
  if (alg !== undefined && typeof alg !== 'string') return null
  const named = { kid, ...(alg !== undefined && { alg }) }
  if (kty === 'RSA') return isModulus(n) && e === RSA_EXPONENT ? { ...named, kty, n, e } : null
  if (typeof x !== 'string') return null
  if (kty === 'EC')
    return CURVES.has(crv) && typeof y === 'string'
      ? { ...named, kty, crv: crv as string, x, y }
      : null
  return kty === 'OKP' && crv === 'Ed25519' ? { ...named, kty, crv, x } : null
}

function isModulus(n: unknown): n is string {
  if (typeof n !== 'string') return false
  const [first = 0, ...rest] = Buffer.from(n, 'base64url')
  const bits = 32 - Math.clz32(first) + rest.length * 8
  return bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS
}
