import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifyEntry } from '../src/verify/verdict.ts'
import type { Source } from '../src/verify/verdict.ts'
import {
  commitmentOf,
  entryFault,
  headerOf,
  isConsistent,
  leafOf,
  readCheckpoint,
  readPath,
  readProof,
  readVerifierKey,
  rootOfInclusion,
  signatureOf,
  toHex,
} from '../src/verify/verify.ts'
import type { Bytes, EntryText } from '../src/verify/verify.ts'

const vectors = (name: string): unknown =>
  JSON.parse(
    readFileSync(
      resolve(import.meta.dirname, '../../../docs/ledger-vectors', `${name}.json`),
      'utf8',
    ),
  )

interface Inclusion {
  readonly index: number
  readonly size: number
  readonly leaf_hash: string
  readonly proof: readonly string[]
  readonly tlog_proof: string
}

interface Consistency {
  readonly from: number
  readonly to: number
  readonly from_root: string
  readonly to_root: string
  readonly proof: readonly string[]
}

const entries = vectors('entries') as (EntryText & { org_id: string; header: string })[]
const keys = vectors('keys') as { name: string; vkey: string }[]
const { inclusion, consistency } = vectors('proofs') as {
  inclusion: Inclusion[]
  consistency: Consistency[]
}
const one = keys[0]!
const two = keys[1]!

const bytes = (hex: string): Bytes => Uint8Array.from(Buffer.from(hex, 'hex'))
const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
const at = (index: number): EntryText => entries.find(({ seq }) => seq === index)!

describe('the bytes of an entry', () => {
  test.each(entries)('entry $seq has the header and the hash of the vectors', async (entry) => {
    expect(headerOf(entry.org_id, entry)).toBe(entry.header)
    expect(toHex(await leafOf(entry.header))).toBe(entry.hash)
  })

  test.each(entries.filter(({ payload }) => payload !== null))(
    'entry $seq has the commitment of its payload',
    async ({ salt, payload, commitment }) => {
      expect(await commitmentOf(salt!, payload!)).toBe(commitment)
    },
  )
})

describe('proofs', () => {
  test.each(inclusion)('the path of $index in $size leads to the root', async (vector) => {
    const proof = readProof(vector.tlog_proof)
    const note = readCheckpoint(proof.note)
    const root = await rootOfInclusion(proof.index, note.size, bytes(vector.leaf_hash), proof.path)

    expect(proof.path.map(toHex)).toEqual(vector.proof)
    expect(toHex(root!)).toBe(toHex(note.root))
  })

  test.each(inclusion)('a path of $index in $size that is longer is refused', async (vector) => {
    const { path, index, note } = readProof(vector.tlog_proof)
    const { size } = readCheckpoint(note)
    const leaf = bytes(vector.leaf_hash)

    expect(await rootOfInclusion(index, size, leaf, [...path, leaf])).toBeNull()
    expect(await rootOfInclusion(size, size, leaf, path)).toBeNull()
  })

  test.each(consistency)('$from grew into $to', async ({ from, to, from_root, to_root, proof }) => {
    const [old, grown] = [
      { size: from, root: bytes(from_root) },
      { size: to, root: bytes(to_root) },
    ]
    const path = readPath(proof.map(base64))

    expect(await isConsistent(old, grown, path)).toBe(true)
    expect(await isConsistent({ ...old, root: bytes('00'.repeat(32)) }, grown, path)).toBe(false)
    expect(await isConsistent(old, { ...grown, root: bytes('00'.repeat(32)) }, path)).toBe(false)
    expect(await isConsistent(old, grown, [...path, grown.root])).toBe(false)
  })
})

describe('signatures', () => {
  const note = readCheckpoint(readProof(inclusion[0]!.tlog_proof).note)

  test('the key of the vectors signed the note, and another did not', async () => {
    expect(await signatureOf(note, await readVerifierKey(one.vkey))).toBe('valid')
    expect(await signatureOf(note, await readVerifierKey(two.vkey))).toBe('missing')
  })

  test('a note with another text has a wrong signature', async () => {
    const changed = { ...note, text: note.text.replace('\n1\n', '\n2\n') }

    expect(await signatureOf(changed, await readVerifierKey(one.vkey))).toBe('invalid')
  })

  test.each(['', 'x', one.vkey.replace('+56ce111f+', '+56ce1110+'), `${one.vkey}=`])(
    'the key %j is refused',
    async (vkey) => {
      await expect(readVerifierKey(vkey)).rejects.toThrow('key')
    },
  )
})

describe('the verdict', () => {
  const vector = inclusion.find(({ index, size }) => index === 2 && size === 7)!
  const honest: Source = {
    entry: (seq) => Promise.resolve(at(seq)),
    proof: () => Promise.resolve(vector.tlog_proof),
    consistency: (from, to) =>
      Promise.resolve(
        consistency.find((known) => known.from === from && known.to === to)!.proof.map(base64),
      ),
    keys: () => Promise.resolve([{ vkey: one.vkey, to_seq: null }]),
  }
  const nothing = () => ({ vkey: null, note: null })
  const withEntry = (change: Partial<EntryText>): Source => ({
    ...honest,
    entry: (seq) => Promise.resolve({ ...at(seq), ...change }),
  })

  test('a good entry is verified, and the key and the note are to be kept', async () => {
    const verdict = await verifyEntry(2, honest, nothing)

    expect(verdict).toMatchObject({ state: 'verified', keep: { vkey: one.vkey } })
  })

  test('with a pinned key and an earlier note, all six checks are made', async () => {
    const earlier = consistency.find(({ to }) => to === 7)!
    const seen = (vectors('tree') as { size: number; checkpoint: string }[]).find(
      ({ size }) => size === earlier.from,
    )!
    const pinned = { vkey: one.vkey, note: seen.checkpoint }
    const { checks } = await verifyEntry(2, honest, () => pinned)

    expect(checks.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok'])
  })

  test.each([
    ['payload', { payload: `${at(2).payload} ` }],
    ['payload', { salt: '0'.repeat(32) }],
    ['payload', { salt: null }],
    ['hash', { hash: '0'.repeat(64) }],
    ['hash', { recorded_at: '2026-11-20T08:00:00.001Z' }],
    ['hash', { kind: 'entry.appended2' }],
    ['hash', { prev_hash: '1'.repeat(64) }],
    ['another_entry', { seq: 3 }],
    ['malformed', { hash: 'x' }],
  ] as const)('%s is named for an entry with %j', async (fault, change) => {
    expect(await verifyEntry(2, withEntry(change), nothing)).toMatchObject({
      state: 'not_verified',
      fault,
    })
  })

  test('another entry with a hash of its own does not lead to the root', async () => {
    const forged = { ...at(2), recorded_at: '2026-11-20T09:00:00.000Z' }
    const hash = toHex(await leafOf(headerOf('org_acme', forged)))
    const verdict = await verifyEntry(2, withEntry({ ...forged, hash }), nothing)

    expect(verdict).toMatchObject({ state: 'not_verified', fault: 'inclusion' })
  })

  test.each([
    ['inclusion', (text: string) => text.replace('Slcieyw', 'Tlcieyw')],
    ['index', (text: string) => text.replace('index 2', 'index 3')],
    ['inclusion', (text: string) => text.replace('P+Zeyzs', 'Q+Zeyzs')],
    ['signature', (text: string) => text.replace('Vs4RH3NZ', 'Vs4RH3Na')],
    ['malformed', (text: string) => text.slice(0, 40)],
    ['malformed', () => ''],
  ] as const)('%s is named for a changed proof', async (fault, change) => {
    const proof = () => Promise.resolve(change(vector.tlog_proof))

    expect(await verifyEntry(2, { ...honest, proof }, nothing)).toMatchObject({
      state: 'not_verified',
      fault,
    })
  })

  test('another key than the pinned one is an alarm', async () => {
    const verdict = await verifyEntry(2, honest, () => ({ vkey: two.vkey, note: null }))

    expect(verdict).toMatchObject({ state: 'not_verified', fault: 'key_changed' })
  })

  test('a ledger that has become shorter is an alarm', async () => {
    const first = inclusion.find(({ index, size }) => index === 0 && size === 1)!
    const shorter = { ...honest, proof: () => Promise.resolve(first.tlog_proof) }
    const seen = { vkey: one.vkey, note: readProof(vector.tlog_proof).note }
    const verdict = await verifyEntry(0, shorter, () => seen)

    expect(verdict).toMatchObject({ state: 'not_verified', fault: 'shorter' })
  })

  test('an answer that does not come is "not checked", never "verified"', async () => {
    const proof = () => Promise.reject(new Error('gone'))

    expect(await verifyEntry(2, { ...honest, proof }, nothing)).toMatchObject({
      state: 'not_checked',
      missing: 'answer',
    })
  })

  test('an erased payload leaves the rest verifiable', async () => {
    const note = readCheckpoint(readProof(vector.tlog_proof).note)
    const erased = { ...at(2), payload: null, salt: null }

    expect(await entryFault(erased, readProof(vector.tlog_proof), note)).toBeNull()
  })
})
