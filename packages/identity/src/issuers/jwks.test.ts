import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fits, KeySetError, keySetOf } from './jwks.ts'

const rsa = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' })
const ec = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
const okp = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
const RSA = rsa(2048)
const P256 = ec('P-256')

const kids = (...keys: readonly unknown[]) => [...keySetOf({ keys }).keys()]
const keep = (key: object) => kids({ ...key, kid: 'k' }).length === 1

describe('a key set', () => {
  it('keeps public keys for signatures', () => {
    for (const key of [RSA, P256, ec('P-384'), ec('P-521'), okp]) expect(keep(key)).toBe(true)
    expect(keep({ ...P256, use: 'sig', alg: 'ES256', key_ops: ['verify'] })).toBe(true)
    expect(keep({ ...P256, use: 'jwt-svid' })).toBe(true)
  })

  it.each([
    ['an exponent of 1, with which anyone can sign', { ...RSA, e: 'AQ' }],
    ['an exponent of 3', { ...RSA, e: 'Aw' }],
    ['an exponent in another spelling', { ...RSA, e: 'AAEAAQ' }],
    ['1024 bits', rsa(1024)],
    ['leading zeros in place of bits', { ...RSA, n: Buffer.alloc(256, 0).toString('base64url') }],
    ['a private key', { ...P256, d: 'AAAA' }],
    ['a symmetric key', { kty: 'oct', k: 'AAAA' }],
    ['a key for encryption', { ...RSA, use: 'enc' }],
    ['a key that only signs', { ...RSA, key_ops: ['sign'] }],
    ['another curve', ec('secp256k1')],
    ['a key for key agreement', generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' })],
    ['a point without y', { ...P256, y: undefined }],
  ])('leaves out %s', (_name, key) => {
    expect(keep(key)).toBe(false)
  })

  it('leaves out keys without a name, and different ones that share one', () => {
    expect(kids(P256, { ...P256, kid: '' }, { ...P256, kid: 7 }, null, 'x', [])).toEqual([])
    expect(kids({ ...P256, kid: 'a' }, { ...RSA, kid: 'a' }, { ...P256, kid: 'b' })).toEqual(['b'])
  })

  it('takes a key that is listed twice as one', () => {
    const key = { ...P256, kid: 'a' }
    expect(kids(key, { ...key, x5t: 'abc' }, key)).toEqual(['a'])
    expect(kids(key, key, { ...key, y: P256.x })).toEqual([])
    expect(kids(key, { ...key, alg: 'ES256' })).toEqual([])
  })

  it('keeps nothing beside the public members', () => {
    const key = keySetOf({ keys: [{ ...P256, kid: 'k', x5u: 'https://evil.example' }] }).get('k')
    expect(key).toEqual({ ...P256, kid: 'k' })
  })

  it('is a list of 100 keys at most', () => {
    for (const document of [null, [], {}, { keys: {} }])
      expect(() => keySetOf(document)).toThrow(KeySetError)
    const keys = Array.from({ length: 101 }, (_, i) => ({ ...P256, kid: `k${i}` }))
    expect(() => keySetOf({ keys })).toThrow('too_many_keys')
    expect(kids(...keys.slice(1))).toHaveLength(100)
  })

  it('fits the algorithms of its kind, or the one that it names', () => {
    expect(fits(RSA, 'RS256') && fits(RSA, 'PS512')).toBe(true)
    expect(fits({ ...RSA, alg: 'RS256' }, 'PS256')).toBe(false)
    expect(fits(P256, 'ES256')).toBe(true)
    expect(fits(P256, 'ES384') || fits(P256, 'RS256') || fits(P256, 'EdDSA')).toBe(false)
    expect(fits({ ...okp, alg: 'Ed25519' }, 'EdDSA')).toBe(true)
  })
})
