import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeWithData, readDataJson } from '../../../test/shared-data.ts'
import { createNoteSigner, NoteError, parseVerifierKey, verifyNote } from './note.ts'

describeWithData('tlog')('the published notes', () => {
  const published = () =>
    readDataJson('tlog/signed-note.json') as {
      notes: {
        name: string
        note_base64: string
        vkeys: string[]
        ok: boolean
        verified?: string[]
      }[]
      bad_vkeys: string[]
    }

  test('17 notes are judged as published', () => {
    const { notes } = published()

    const verdicts = notes.map(({ name, note_base64: base64, vkeys }) => ({
      name,
      verified: signersOf(Buffer.from(base64, 'base64').toString('utf8'), vkeys),
    }))

    expect(verdicts).toHaveLength(17)
    expect(verdicts).toEqual(
      notes.map(({ name, ok, verified }) => ({ name, verified: ok ? verified : null })),
    )
  })

  test('malformed verifier keys are refused', () => {
    const { bad_vkeys: bad } = published()

    expect(bad).toHaveLength(5)
    for (const vkey of bad) expect(() => parseVerifierKey(vkey)).toThrow(NoteError)
  })
})

describe('a signer', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const signer = createNoteSigner({ name: 'remit.example.com/ledger', privateKey })
  const verifier = parseVerifierKey(signer.vkey)

  test('publishes a key that opens its notes', () => {
    const note = signer.sign('one\n\ntwo — three\n')

    expect(verifyNote(note, [verifier])).toEqual({
      body: 'one\n\ntwo — three\n',
      verifiedBy: ['remit.example.com/ledger'],
    })
    expect(verifier).toMatchObject({ name: signer.name, keyHash: signer.keyHash })
  })

  test('verifies its own notes, and no others', () => {
    const { privateKey: other } = generateKeyPairSync('ed25519')
    const note = createNoteSigner({ name: signer.name, privateKey: other }).sign('one\n')
    const [body, signature = ''] = note.split(/\n\n— \S+ /)
    const bytes = Buffer.from(signature, 'base64').subarray(4)

    expect(verifyNote(signer.sign('one\n'), [signer]).verifiedBy).toEqual([signer.name])
    expect(() => verifyNote(note, [signer])).toThrow(NoteError)
    expect(signer.verify(`${body}\n`, bytes)).toBe(false)
  })

  test('makes notes that any change of a character spoils', () => {
    const note = signer.sign('remit.example.com/ledger\n12\nabc\n')
    fc.assert(
      fc.property(
        fc.nat(note.length - 1),
        fc.string({ unit: 'binary', maxLength: 1 }),
        (at, to) => {
          fc.pre(note[at] !== to)
          const changed = note.slice(0, at) + to + note.slice(at + 1)

          expect(() => verifyNote(changed, [verifier])).toThrow(NoteError)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('signs only text that ends in a newline and holds no control characters', () => {
    for (const body of ['', 'no newline', 'bell\u0007\n', 'tab\t\n', 'half \ud800\n']) {
      expect(() => signer.sign(body)).toThrow(NoteError)
    }
  })

  test('has a name without spaces and plus signs', () => {
    for (const name of ['', 'a b', 'a+b', 'a\u00a0b', 'a\nb']) {
      expect(() => createNoteSigner({ name, privateKey })).toThrow(NoteError)
    }
  })

  test('has an Ed25519 key and no other', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
    const x25519 = generateKeyPairSync('x25519').privateKey

    for (const key of [rsa, x25519]) {
      expect(() => createNoteSigner({ name: 'log', privateKey: key })).toThrow(/Ed25519/)
    }
  })

  test('is known by name and key: another key under its name is a stranger', () => {
    const other = createNoteSigner({
      name: signer.name,
      privateKey: generateKeyPairSync('ed25519').privateKey,
    })

    expect(() => verifyNote(other.sign('text\n'), [verifier])).toThrow(
      expect.objectContaining({ code: 'unverified' }),
    )
  })

  test('vouches even when a stranger signed as well, but not when its own line is forged', () => {
    const body = 'text\n'
    const good = signer.sign(body)
    const stranger = createNoteSigner({
      name: 'witness.example.com',
      privateKey: generateKeyPairSync('ed25519').privateKey,
    })
    const both = good + stranger.sign(body).slice(body.length + 1)
    const forgedLine = Buffer.concat([
      Buffer.from(signer.keyHash, 'hex'),
      sign(null, Buffer.from('other\n'), privateKey),
    ]).toString('base64')

    expect(verifyNote(both, [verifier]).verifiedBy).toEqual([signer.name])
    expect(verifyNote(both, [parseVerifierKey(stranger.vkey), verifier]).verifiedBy).toHaveLength(2)
    expect(() => verifyNote(`${good}— ${signer.name} ${forgedLine}\n`, [verifier])).toThrow(
      expect.objectContaining({ code: 'bad_signature' }),
    )
  })
})

test('the published example key of RFC 8032 signs the same bytes for ever', () => {
  // RFC 8032 section 7.1, test 1.
  const privateKey = createPrivateKey({
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    },
    format: 'jwk',
  })
  const signer = createNoteSigner({ name: 'example.com/test', privateKey })

  expect(signer.vkey).toBe('example.com/test+16227609+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea')
  expect(signer.sign('text\n')).toBe(
    'text\n\n— example.com/test FiJ2CdSEwW2ZYB+egrqYmKIXEqkur8jxw7FVDkAxyYlqW+48b948CuJ/MNXG5vzzGPRsUiClhZ9R+ShnCFysk7mE3As=\n',
  )
})

function signersOf(note: string, vkeys: string[]): string[] | null {
  try {
    return verifyNote(note, vkeys.map(parseVerifierKey)).verifiedBy
  } catch (error) {
    if (error instanceof NoteError) return null
    throw error
  }
}
