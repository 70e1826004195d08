import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { JWTPayload } from 'jose'
import { z } from 'zod'

// The vendor's public key; the vendor has the private key (`remit license keygen`).
const VENDOR_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAZqRN0CgZAYln3rIEFUsrsqRjRYbVI5ctwZH/JAw5zU8=
-----END PUBLIC KEY-----`

const ISSUER = 'remit-license'

/** Where a license can be obtained and renewed; README, LICENSE-ENTERPRISE and docs name the same address. */
export const LICENSE_CONTACT = 'licenses@remit.example'

const DAY_MS = 86_400_000
/** Days before the expiry of a license from which a server warns. */
const NOTICE_DAYS = 30
/** Days after its expiry for which a license still loads the modules. */
export const GRACE_DAYS = 30

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

/** The end of the grace period of a license, RFC 3339. */
export const graceEndOf = ({ expiresAt }: Pick<License, 'expiresAt'>): string =>
  new Date(Date.parse(expiresAt) + GRACE_DAYS * DAY_MS).toISOString()

/** Returns a warning about the expiry of a license; null until 30 days before. */
export function expiryNotice(
  license: Pick<License, 'expiresAt'>,
  nowMs: number,
): { readonly level: 'warn' | 'error'; readonly text: string } | null {
  const { expiresAt } = license
  const expires = Date.parse(expiresAt)
  if (nowMs < expires - NOTICE_DAYS * DAY_MS) return null
  const renew = `Renew it: ${LICENSE_CONTACT}.`
  if (nowMs < expires)
    return { level: 'warn', text: `The license expires at ${expiresAt}. ${renew}` }
  const end = graceEndOf(license)
  const what =
    nowMs < Date.parse(end)
      ? `a server that starts after ${end} does not load the modules`
      : 'the next start does not load the modules'
  return { level: 'error', text: `The license expired at ${expiresAt}: ${what}. ${renew}` }
}

export const vendorKey = (): KeyObject => createPublicKey(VENDOR_KEY)

/**
 * Checks a license offline: an EdDSA-signed JWT (RFC 7519, RFC 8037) of the vendor. A license is
 * valid for `GRACE_DAYS` after its expiry. Returns the reason for an invalid one, which enables nothing.
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
    return licenseOf(payload)
  } catch (error) {
    // The signature, the issuer and `nbf` have been checked before.
    if (error instanceof errors.JWTExpired) return expired(licenseOf(error.payload), nowMs)
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

function licenseOf(payload: JWTPayload): LicenseCheck {
  const claims = Claims.safeParse(payload)
  if (!claims.success) return { refused: 'the license has no valid customer, plan or exp' }
  const { customer, plan, hosted = false, exp } = claims.data
  return { license: { customer, plan, hosted, expiresAt: new Date(exp * 1000).toISOString() } }
}

function expired(check: LicenseCheck, nowMs: number): LicenseCheck {
  if ('refused' in check || nowMs < Date.parse(graceEndOf(check.license))) return check
  const { expiresAt } = check.license
  return { refused: `the license expired at ${expiresAt}, more than ${GRACE_DAYS} days ago` }
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
