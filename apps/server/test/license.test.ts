import { generateKeyPairSync } from 'node:crypto'
import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  checkLicense,
  expiryNotice,
  GRACE_DAYS,
  issueLicense,
  vendorKey,
} from '../src/settings/license.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const other = generateKeyPairSync('ed25519')
const NOW = Date.parse('2026-11-20T08:00:00Z')
const HOUR = 3600

const claims = { customer: 'Acme', plan: 'enterprise', hosted: false }
const token = (
  payload: Record<string, unknown> = claims,
  issuer = 'remit-license',
  exp: number = NOW / 1000 + HOUR,
) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA' }).setIssuer(issuer).setExpirationTime(exp)

const secretOf = (pem: boolean): Uint8Array =>
  pem
    ? Buffer.from(publicKey.export({ type: 'spki', format: 'pem' }))
    : publicKey.export({ type: 'spki', format: 'der' })
const hs256 = (secret: Uint8Array) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('remit-license')
    .setExpirationTime(NOW / 1000 + HOUR)
    .sign(secret)

const replacePayload = async (change: object): Promise<string> => {
  const [header, payload, signature] = (await token().sign(privateKey)).split('.')
  const changed = {
    ...(JSON.parse(Buffer.from(payload ?? '', 'base64url').toString()) as object),
    ...change,
  }
  return [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.')
}

describe('a license', () => {
  test('that the vendor issued opens what it says, until it says', async () => {
    const license = {
      customer: 'Acme',
      plan: 'team',
      hosted: true,
      expiresAt: '2027-01-01T00:00:00.000Z',
    } as const

    expect(await checkLicense(await issueLicense(privateKey, license), publicKey, NOW)).toEqual({
      license,
    })
  })

  test('is checked against the clock it is given, to the second, with 30 days of grace', async () => {
    const text = await token().sign(privateKey)
    const at = (seconds: number) => checkLicense(text, publicKey, NOW + seconds * 1000)

    expect(await at(HOUR - 1)).toHaveProperty('license')
    const end = HOUR + GRACE_DAYS * 24 * HOUR
    expect(await at(end - 1)).toHaveProperty('license.expiresAt', '2026-11-20T09:00:00.000Z')
    expect(await at(end)).toEqual({
      refused: 'the license expired at 2026-11-20T09:00:00.000Z, more than 30 days ago',
    })
  })

  test.each<[string, () => Promise<string> | string, string]>([
    [
      'signed by somebody else',
      () => token().sign(other.privateKey),
      'the license is not signed by the vendor',
    ],
    [
      'with a changed plan',
      () => replacePayload({ plan: 'enterprise', hosted: true }),
      'the license is not signed by the vendor',
    ],
    [
      'with a later end',
      () => replacePayload({ exp: NOW }),
      'the license is not signed by the vendor',
    ],
    [
      'HS256 with the public key (PEM) as secret',
      () => hs256(secretOf(true)),
      'the license is signed with an algorithm that is not EdDSA',
    ],
    [
      'HS256 with the public key (DER) as secret',
      () => hs256(secretOf(false)),
      'the license is signed with an algorithm that is not EdDSA',
    ],
    [
      'without a signature',
      () => new UnsecuredJWT(claims).setIssuer('remit-license').setExpirationTime('1h').encode(),
      'the license is signed with an algorithm that is not EdDSA',
    ],
    ['garbage', () => 'not a license', 'the license is not a signed JWT'],
    ['an empty JWT', () => '..', 'the license is not a signed JWT'],
    [
      'of another issuer',
      () => token(claims, 'somebody').sign(privateKey),
      'the license’s iss claim is not valid',
    ],
    [
      'not valid yet',
      () =>
        token()
          .setNotBefore(NOW / 1000 + 60)
          .sign(privateKey),
      'the license’s nbf claim is not valid',
    ],
    [
      'without an end',
      () =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'EdDSA' })
          .setIssuer('remit-license')
          .sign(privateKey),
      'the license has no valid customer, plan or exp',
    ],
    [
      'with an end beyond all time',
      () => token(claims, 'remit-license', 1e15).sign(privateKey),
      'the license has no valid customer, plan or exp',
    ],
    [
      'of an unknown plan',
      () => token({ ...claims, plan: 'free' }).sign(privateKey),
      'the license has no valid customer, plan or exp',
    ],
    [
      'for nobody',
      () => token({ plan: 'team' }).sign(privateKey),
      'the license has no valid customer, plan or exp',
    ],
  ])('%s is refused with its reason', async (_what, make, refused) => {
    expect(await checkLicense(await make(), publicKey, NOW)).toEqual({ refused })
  })

  test('of any other key than the vendor’s is refused by a server that was not told another', async () => {
    expect(await checkLicense(await token().sign(privateKey), vendorKey(), NOW)).toHaveProperty(
      'refused',
    )
  })

  test.each([
    ['more than 30 days before it expires', -31, null],
    ['30 days before', -30, 'warn'],
    ['when it has expired', 0, 'error'],
    ['after the grace period, on a server that still runs', 31, 'error'],
  ])('%s is told so', (_when, days, level) => {
    const expiresAt = '2026-11-20T08:00:00.000Z'
    const notice = expiryNotice({ expiresAt }, NOW + days * 24 * HOUR * 1000)

    expect(notice && { ...notice, text: notice.text.includes(expiresAt) }).toEqual(
      level && { level, text: true },
    )
  })

  test.each<[string, () => Promise<string>]>([
    ['another issuer', () => token(claims, 'somebody', NOW / 1000 - HOUR).sign(privateKey)],
    ['another key', () => token(claims, 'remit-license', NOW / 1000 - HOUR).sign(other.privateKey)],
    [
      'a time from which it is valid, in the future',
      () =>
        token(claims, 'remit-license', NOW / 1000 - HOUR)
          .setNotBefore(NOW / 1000 + 60)
          .sign(privateKey),
    ],
    [
      'an unknown plan',
      () => token({ ...claims, plan: 'free' }, 'remit-license', NOW / 1000 - HOUR).sign(privateKey),
    ],
  ])('in its grace period with %s is refused as ever', async (_what, make) => {
    expect(await checkLicense(await make(), publicKey, NOW)).toHaveProperty('refused')
  })
})
