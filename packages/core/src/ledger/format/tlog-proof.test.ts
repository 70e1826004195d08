import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { memoryLog } from '../../../test/ledger/memory-tiles.ts'
import { describeWithData, readDataJson } from '../../../test/shared-data.ts'
import { signCheckpoint, createNoteSigner, parseVerifierKey } from './note.ts'
import { leafHash } from './merkle.ts'
import { inclusionProof } from './proof.ts'
import { formatTlogProof, parseTlogProof, TlogProofError, verifyTlogProof } from './tlog-proof.ts'

interface Vector {
  name: string
  entry?: string
  entry_base64?: string
  vkey: string
  proof: string
  ok: boolean
}

describeWithData('tlog')('the published proof files', () => {
  test('10 good and 16 bad ones are judged as published', () => {
    const cases = readDataJson('tlog/tlog-proof.json') as Vector[]

    const verdicts = cases.map(({ name, entry, entry_base64: base64, vkey, proof }) => {
      const data = base64 === undefined ? Buffer.from(entry!) : Buffer.from(base64, 'base64')
      const verifier = parseVerifierKey(vkey)
      return { name, ok: verifyTlogProof({ text: proof, leafHash: leafHash(data), verifier }).ok }
    })

    expect(verdicts).toHaveLength(26)
    expect(verdicts).toEqual(cases.map(({ name, ok }) => ({ name, ok })))
  })

  test('good ones are written back byte for byte', () => {
    const good = (readDataJson('tlog/tlog-proof.json') as Vector[]).filter(({ ok }) => ok)

    for (const { proof } of good) expect(formatTlogProof(parseTlogProof(proof))).toBe(proof)
    expect(good).toHaveLength(10)
  })
})

describe('a proof file of a ledger', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const signer = createNoteSigner({ name: 'remit.example.com/ledger', privateKey })
  const verifier = parseVerifierKey(signer.vkey)
  const origin = 'remit.example.com/ledger/org_1/led_1'
  const leaves = Array.from({ length: 11 }, (_, at) => leafHash(Buffer.from(`entry ${at}`)))
  const log = memoryLog(leaves)
  const root = log.tree.root()
  const checkpoint = signCheckpoint(signer, { origin, size: 11, root })

  async function proofOf(index: number, extra?: Uint8Array): Promise<string> {
    const proof = await inclusionProof(log.readTile, index, 11)
    return formatTlogProof({ index, proof, checkpoint, ...(extra ? { extra } : {}) })
  }

  test('convinces with the right entry and names where it stands', async () => {
    const text = await proofOf(7, Buffer.from('decision dec_1'))

    expect(verifyTlogProof({ text, leafHash: leaves[7]!, verifier, origin })).toEqual({
      ok: true,
      index: 7,
      size: 11,
      root,
      origin,
    })
    expect(Buffer.from(parseTlogProof(text).extra!).toString()).toBe('decision dec_1')
  })

  test('does not convince for another entry, log or key', async () => {
    const text = await proofOf(7)
    const other = generateKeyPairSync('ed25519').privateKey
    const stranger = parseVerifierKey(createNoteSigner({ name: 'x', privateKey: other }).vkey)
    const claim = { text, leafHash: leaves[7]!, verifier }

    expect(verifyTlogProof({ ...claim, leafHash: leaves[6]! }).ok).toBe(false)
    expect(verifyTlogProof({ ...claim, leafHash: 'rubbish' }).ok).toBe(false)
    expect(verifyTlogProof({ ...claim, origin: 'another/log' }).ok).toBe(false)
    expect(verifyTlogProof({ ...claim, verifier: stranger }).ok).toBe(false)
  })

  test.each([
    ['nothing', ''],
    ['only a first line', 'c2sp.org/tlog-proof@v1\n'],
    ['an index of 2^53', 'c2sp.org/tlog-proof@v1\nindex 9007199254740992\n\n'],
    ['an index before the extra', 'c2sp.org/tlog-proof@v1\nindex 1\nextra YQ==\n\n'],
    ['base64 that is not exact', 'c2sp.org/tlog-proof@v1\nextra YR==\nindex 1\n\n'],
  ])('is refused, not crashed upon: %s', (_, text) => {
    expect(() => parseTlogProof(text)).toThrow(TlogProofError)
    expect(verifyTlogProof({ text, leafHash: leaves[0]!, verifier }).ok).toBe(false)
  })

  test('refuses proof text without a checkpoint at all', () => {
    const text = 'c2sp.org/tlog-proof@v1\nindex 1\n\n'

    expect(verifyTlogProof({ text, leafHash: leaves[0]!, verifier })).toEqual({
      ok: false,
      problem: 'The text is not a signed note',
    })
  })
})
