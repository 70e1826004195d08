import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  committedText,
  headerOf,
  isConsistent,
  keyText,
  leafText,
  parseKey,
  readPath,
  readProof,
  rootOfInclusion,
  signaturesOf,
  toHex,
} from '../src/pure.ts'
import type { EntryText, Sha256 } from '../src/pure.ts'

const vectors = (name: string): unknown =>
  JSON.parse(
    readFileSync(new URL(`../../../docs/ledger-vectors/${name}.json`, import.meta.url), 'utf8'),
  )

const entries = vectors('entries') as (EntryText & { org_id: string; header: string })[]
const keys = vectors('keys') as { vkey: string }[]
const { inclusion, consistency } = vectors('proofs') as {
  inclusion: {
    index: number
    size: number
    leaf_hash: string
    proof: string[]
    tlog_proof: string
  }[]
  consistency: { from: number; to: number; from_root: string; to_root: string; proof: string[] }[]
}
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')

describe('the texts that are hashed', () => {
  test.each(entries)('of entry $seq are those of the vectors', (entry) => {
    expect(headerOf(entry.org_id, entry)).toBe(entry.header)
    expect(hash('sha256', leafText(entry.header))).toBe(entry.hash)
  })

  test.each(entries.filter(({ payload }) => payload !== null))(
    'of entry $seq commit to its payload',
    ({ salt, payload, commitment }) => {
      expect(hash('sha256', committedText(salt!, payload!))).toBe(commitment)
    },
  )

  test.each(keys)('of the key $vkey give its id', ({ vkey }) => {
    const key = parseKey(vkey)!
    expect(hash('sha256', keyText(key)).slice(0, 8)).toBe(key.id)
  })
})

const HASHES: readonly (readonly [string, Sha256])[] = [
  ['at once', (text) => new Uint8Array(hash('sha256', text, 'buffer'))],
  ['later', async (text) => new Uint8Array(await crypto.subtle.digest('SHA-256', text))],
]

describe.each(HASHES)('proofs, with a hash that comes %s', (_, sha256) => {
  test.each(inclusion)('the path of $index in $size leads to the root', async (vector) => {
    const { index, path, checkpoint } = readProof(vector.tlog_proof)!
    const leaf = bytes(vector.leaf_hash)

    expect(path.map(toHex)).toEqual(vector.proof)
    expect(await rootOfInclusion(index, checkpoint.size, leaf, path, sha256)).toBe(checkpoint.root)
  })

  test.each(inclusion)('a path of $index in $size that is longer is refused', async (vector) => {
    const { path, index, checkpoint } = readProof(vector.tlog_proof)!
    const { size } = checkpoint
    const leaf = bytes(vector.leaf_hash)

    expect(await rootOfInclusion(index, size, leaf, [...path, leaf], sha256)).toBeNull()
    expect(await rootOfInclusion(size, size, leaf, path, sha256)).toBeNull()
  })

  test.each(consistency)('$from grew into $to', async ({ from, to, from_root, to_root, proof }) => {
    const [old, grown] = [
      { size: from, root: base64(from_root) },
      { size: to, root: base64(to_root) },
    ]
    const other = base64('00'.repeat(32))
    const path = readPath(proof.map(base64))!
    const longer = [...path, bytes(to_root)]

    expect(await isConsistent(old, grown, path, sha256)).toBe(true)
    expect(await isConsistent({ ...old, root: other }, grown, path, sha256)).toBe(false)
    expect(await isConsistent(old, { ...grown, root: other }, path, sha256)).toBe(false)
    expect(await isConsistent(old, grown, longer, sha256)).toBe(false)
  })
})

describe('only the one form of a text is read', () => {
  const file = inclusion[0]!.tlog_proof

  test.each([
    ['another version', file.replace('@v1', '@v2')],
    ['an index with a zero before it', file.replace(/index \d+/, 'index 01')],
    ['a hash that is too short', file.replace('\n\n', '\nAAAA\n\n')],
    ['a note without its last line end', file.slice(0, -1)],
  ])('of a proof: not %s', (_, text) => {
    expect(readProof(file)).not.toBeNull()
    expect(readProof(text)).toBeNull()
  })

  test('of a hash: not base64 with bits or blanks beside it', () => {
    const [exact] = readPath([base64('11'.repeat(32))])!
    expect(exact).toEqual(bytes('11'.repeat(32)))
    for (const text of [base64('11'.repeat(32)).replace('E=', 'F='), ` ${base64('11'.repeat(32))}`])
      expect(readPath([text])).toBeNull()
  })

  test('of a note: an invalid one has no signatures', () => {
    const { note } = readProof(file)!.checkpoint
    const key = keys.map(({ vkey }) => parseKey(vkey)!).find(({ name }) => note.includes(name))!
    expect(signaturesOf(note, key).signatures).toHaveLength(1)
    expect(signaturesOf(note.replace('\n', '\r\n'), key).signatures).toEqual([])
  })
})

test('nothing in it needs Node: neither a module nor a global name', () => {
  const source = readFileSync(new URL('../src/pure.ts', import.meta.url), 'utf8')
  expect(source).not.toMatch(/\bfrom '|\bimport\(|\b(?:Buffer|process)\b/)
})
