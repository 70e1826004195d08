import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { describeWithData, readDataJson } from '../../../test/shared-data.ts'
import {
  CheckpointError,
  formatCheckpoint,
  openCheckpoint,
  parseCheckpoint,
  signCheckpoint,
  createNoteSigner,
  NoteError,
  parseVerifierKey,
} from './note.ts'
import { MerkleTree, emptyRoot, leafHash } from './merkle.ts'

describeWithData('tlog')('the published checkpoints', () => {
  test('21 bodies are judged as published, except sizes no ledger of ours can have', () => {
    const cases = readDataJson('tlog/checkpoint-body.json') as {
      name: string
      body: string
      ok: boolean
      size?: string
    }[]

    expect(cases).toHaveLength(21)
    const wanted = cases.map(({ name, ok, size }) => {
      const possible = ok && Number.isSafeInteger(Number(size))
      return { name, size: possible ? Number(size) : null }
    })
    expect(cases.map(({ name, body }) => ({ name, size: sizeOf(body) }))).toEqual(wanted)
    expect(wanted.filter(({ size }) => size !== null)).toHaveLength(4)
  })

  test('a real log’s 16 signed checkpoints open and agree with its entries', () => {
    const log = readDataJson('tlog/tessera-testlog.json') as Record<
      'entries' | 'checkpoints',
      string[]
    > &
      Record<'vkey', string>
    const verifier = parseVerifierKey(log.vkey)
    const tree = new MerkleTree()

    for (const [size, note] of log.checkpoints.entries()) {
      if (size > 0) tree.append(leafHash(Buffer.from(log.entries[size - 1]!)))

      const opened = openCheckpoint(note, verifier, 'example.com/log/testdata')

      expect(opened).toEqual({ origin: 'example.com/log/testdata', size, root: tree.root() })
    }
    expect(tree.size).toBe(15)
  })
})

describe('a signed checkpoint', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const signer = createNoteSigner({ name: 'remit.example.com/ledger', privateKey })
  const verifier = parseVerifierKey(signer.vkey)
  const checkpoint = { origin: 'remit.example.com/ledger/org_1/led_1', size: 0, root: emptyRoot }

  test('says what was signed, in the published form', () => {
    const note = signCheckpoint(signer, checkpoint)

    expect(openCheckpoint(note, verifier)).toEqual(checkpoint)
    expect(note.split('\n').slice(0, 4)).toEqual([
      'remit.example.com/ledger/org_1/led_1',
      '0',
      '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
      '',
    ])
  })

  test('is of no use for another log or another key', () => {
    const note = signCheckpoint(signer, checkpoint)
    const other = createNoteSigner({
      name: signer.name,
      privateKey: generateKeyPairSync('ed25519').privateKey,
    })

    expect(() => openCheckpoint(note, verifier, 'remit.example.com/ledger/org_2/led_1')).toThrow(
      CheckpointError,
    )
    expect(() => openCheckpoint(note, parseVerifierKey(other.vkey))).toThrow(NoteError)
  })

  test('is not made from values that its text cannot hold', () => {
    for (const bad of [
      { ...checkpoint, origin: '' },
      { ...checkpoint, origin: 'a\nb' },
      { ...checkpoint, size: -1 },
      { ...checkpoint, size: 2 ** 53 },
      { ...checkpoint, root: 'ab' },
    ]) {
      expect(() => formatCheckpoint(bad)).toThrow(CheckpointError)
    }
  })

  test('gives back extension lines without meaning anything by them', () => {
    const body = `${formatCheckpoint(checkpoint)}more\nlines\n`

    expect(parseCheckpoint(body)).toEqual({ ...checkpoint, extensions: ['more', 'lines'] })
  })
})

function sizeOf(body: string): number | null {
  try {
    return parseCheckpoint(body).size
  } catch (error) {
    if (error instanceof CheckpointError) return null
    throw error
  }
}
