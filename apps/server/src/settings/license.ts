import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'

// The vendor's public key; the vendor has the private key (`remit license keygen`).
const VENDOR_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAZqRN0CgZAYln3rIEFUsrsqRjRYbVI5ctwZH/JAw5zU8=
-----END PUBLIC KEY-----`

const ISSUER = 'remit-license'

/** The last second of the year 9999, the maximum of RFC 3339. */
const MAX_EXP = 253_402_300_799

const Claims = z.object({
  customer: z.string().min(1).max(256),
  plan: z.enum(['team', 'enterprise']),
  hosted: z.boolean().optional(),
  exp: z.int().max(MAX_EXP),
})

export interface License {
  readonly customer: string
  readonly plan: 'team' | 'enterprise'
  /** True: each organization has its own plan, without a ceiling. */
  readonly hosted: boolean
  readonly expiresAt: string
}

export type LicenseCheck = { readonly license: License } | { readonly refused: string }

export const vendorKey = (): KeyObject => createPublicKey(VENDOR_KEY)

/**
 * Checks a license offline: an EdDSA-signed JWT (RFC 7519, RFC 8037) of the vendor. Returns the
 * reason for an invalid one, which enables nothing.
 */
export async function checkLicense(
  token: string,
  key: KeyObject,
  nowMs: number,
): Promise<LicenseCheck> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['EdDSA'],
      issuer: ISSUER,
      currentDate: new Date(nowMs),
    })
    const claims = Claims.safeParse(payload)
    if (!claims.success) return { refused: 'the license has no valid customer, plan or exp' }
    const { customer, plan, hosted = false, exp } = claims.data
    return { license: { customer, plan, hosted, expiresAt: new Date(exp * 1000).toISOString() } }
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { refused: 'the license has expired' }
    if (error instanceof errors.JWTClaimValidationFailed) {
      return { refused: `the license’s ${error.claim} claim is not valid` }
    }
    if (error instanceof errors.JOSEAlgNotAllowed)
      return { refused: 'the license is signed with an algorithm that is not EdDSA' }
    if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
      return { refused: 'the license is not a signed JWT' }
    }
    if (error instanceof errors.JOSEError)
      return { refused: 'the license is not signed by the vendor' }
    throw error
  }
}

/** Returns a signed license; `expiresAt` is RFC 3339. */
export function issueLicense(key: KeyObject, license: License): Promise<string> {
  const { customer, plan, hosted } = license
  return new SignJWT({ customer, plan, hosted })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .setIssuer(ISSUER)
    .setIssuedAt()
    .setExpirationTime(new Date(license.expiresAt))
    .sign(key)
}

/** Generates a vendor key pair as PEM. */
export function generateLicenseKeys(): { publicKey: string; privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
