import { createPublicKey, verify } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseKeyReference } from '../../src/kms/service.ts'
import { openRemoteKey } from '../../src/kms/open.ts'
import type { RemoteKey } from '../../src/kms/service.ts'
import { createWitness } from '../../src/kms/witness.ts'
import { parseVerifierKey, verifyNote } from '../../src/ledger/format/note.ts'
import { KEY_SERVICE_ENV, startKeyService } from '@remit/testing/pure'
import type { FakeKeyService } from '@remit/testing/pure'

const NOTE = `remit.test/ledger/org_a/led_1\n3\n${Buffer.alloc(32, 3).toString('base64')}\n\n— remit.test/ledger/org_a/led_1 ${Buffer.alloc(68, 7).toString('base64')}\n`

describe('a key reference', () => {
  it.each([
    ['awskms:alias/remit', { service: 'awskms', key: 'alias/remit' }],
    [
      'awskms:arn:aws:kms:eu-west-1:1:key/ab-1',
      { service: 'awskms', key: 'arn:aws:kms:eu-west-1:1:key/ab-1' },
    ],
    ['vault+transit:transit/remit', { service: 'vault', mount: 'transit', key: 'remit' }],
    ['vault+transit:a/b/remit', { service: 'vault', mount: 'a/b', key: 'remit' }],
    ['vault+transit:remit', null],
    ['vault+transit:../x/remit', null],
    ['awskms:', null],
    ['gcpkms:a', null],
  ])('%s', (text, reference) => {
    expect(parseKeyReference(text)).toEqual(reference)
  })
})

describe.each(['awskms:alias/remit', 'vault+transit:transit/remit'])('the key %s', (text) => {
  let service: FakeKeyService
  beforeAll(async () => {
    service = await startKeyService()
  })
  afterAll(() => service[Symbol.asyncDispose]())
  beforeEach(() => {
    service.fault = 'none'
  })
  const open = (env: Readonly<Record<string, string>> = KEY_SERVICE_ENV): RemoteKey => {
    const reference = parseKeyReference(text)
    if (!reference) throw new Error(text)
    return openRemoteKey(reference, env, service.url)
  }

  it('signs with the key that it tells', async () => {
    const x = Buffer.from(await open().publicKey()).toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    const message = Buffer.from('checkpoint\n')

    expect(verify(null, message, key, await open().sign(message))).toBe(true)
  })

  it('decrypts', async () => {
    const { aws, vault } = service.wrap('a secret')

    expect(String(await open().decrypt(text.startsWith('aws') ? aws : vault))).toBe('a secret')
    await expect(open().decrypt('vault:v1:other')).rejects.toThrow('answered 400')
  })

  it('sends its credentials, and nothing of them is in an error', async () => {
    await open().publicKey()
    const { authorization, 'x-vault-token': token } = service.seen.at(-1) ?? {}
    expect(authorization ?? token).toMatch(
      /^(?:hvs\.token$|AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/kms\/aws4_request)/,
    )

    service.fault = 'refuses'
    const error: unknown = await open()
      .publicKey()
      .catch((refusal: unknown) => refusal)
    expect(String(error)).toMatch(/^KeyServiceError: .* answered 403$/)
  })

  it('is an error without an answer, and without credentials', async () => {
    await expect(open({}).publicKey()).rejects.toThrow('needs the environment variable')
    service.fault = 'down'
    await expect(open().publicKey()).rejects.toThrow('did not answer')
  })

  it('witnesses a note; a wrong signature makes none', async () => {
    const witness = createWitness(open())
    const { note, vkey } = await witness.cosign(NOTE)

    expect(note.startsWith(NOTE)).toBe(true)
    expect(vkey).toMatch(/^remit\.test\/witness\+/)
    expect(await witness.vkey('remit.test/ledger/org_a/led_1')).toBe(vkey)
    expect(verifyNote(note, [parseVerifierKey(vkey)]).verifiedBy).toEqual(['remit.test/witness'])
    service.fault = 'wrong signature'
    await expect(witness.cosign(NOTE)).rejects.toThrow('is not valid for its key')
  })

  it('witnesses with its newest version as soon as it is rotated, in every process', async () => {
    const witnesses = [createWitness(open()), createWitness(open())]
    const cosign = () => Promise.all(witnesses.map((witness) => witness.cosign(NOTE)))
    const [before, sameBefore] = await cosign()
    service.rotate()
    // The key by which a process verifies that has not signed since the rotation.
    const vkey = await witnesses[1]?.vkey('remit.test/ledger/org_a/led_1')
    const [after, sameAfter] = await cosign()

    expect(sameBefore).toEqual(before)
    expect(sameAfter).toEqual(after)
    expect(after?.vkey).toBe(vkey)
    expect(after?.vkey).not.toBe(before?.vkey)
    const verified = verifyNote(after?.note ?? '', [parseVerifierKey(vkey ?? '')])
    expect(verified.verifiedBy).toEqual(['remit.test/witness'])
  })

  it('may have had a thousand versions', async () => {
    for (let count = 0; count < 1_000; count++) service.rotate()

    const { vkey } = await createWitness(open()).cosign(NOTE)
    expect(vkey).toMatch(/^remit\.test\/witness\+/)
  })
})
