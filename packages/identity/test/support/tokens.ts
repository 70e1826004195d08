import { generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** Encodes a part of a token. */
export const part = (text: string | Uint8Array): string => Buffer.from(text).toString('base64url')

/** A key of an issuer, with its public half as a JWK. */
export interface IssuerKey {
  readonly kid: string
  readonly alg: 'ES256' | 'RS256'
  readonly privateKey: KeyObject
  readonly jwk: Record<string, unknown>
}

export function createKey(kid: string, alg: IssuerKey['alg'] = 'ES256'): IssuerKey {
  const { privateKey, publicKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { kid, alg, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } }
}

/** The signature over a text, as JWS writes it. */
const signatureOf = (signed: string, { privateKey }: IssuerKey): string =>
  sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString(
    'base64url',
  )

/** A token of exactly these texts, signed whatever they say. */
export function tokenOf(header: string | Uint8Array, payload: string | Uint8Array, key: IssuerKey) {
  const signed = `${part(header)}.${part(payload)}`
  return `${signed}.${signatureOf(signed, key)}`
}
