import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { headerOf, leafText, readProof } from '@remit/verify/pure'
import type { EntryText } from '@remit/verify/pure'
import { entryFault, readKey, signatureOf, verifyEntry } from '../src/verify/verdict.ts'
import type { Source } from '../src/verify/verdict.ts'

const vectors = (name: string): unknown =>
  JSON.parse(
    readFileSync(
      resolve(import.meta.dirname, '../../../docs/ledger-vectors', `${name}.json`),
      'utf8',
    ),
  )

const entries = vectors('entries') as (EntryText & { org_id: string; header: string })[]
const keys = vectors('keys') as { name: string; vkey: string }[]
const { inclusion, consistency } = vectors('proofs') as {
  inclusion: { index: number; size: number; tlog_proof: string }[]
  consistency: { from: number; to: number; proof: string[] }[]
}
const one = keys[0]!
const two = keys[1]!

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
const at = (index: number): EntryText => entries.find(({ seq }) => seq === index)!

describe('signatures', () => {
  const { note } = readProof(inclusion[0]!.tlog_proof)!.checkpoint
  const signatureBy = async ({ vkey }: typeof one, text = note) =>
    signatureOf(text, (await readKey(vkey))!)

  test('the key of the vectors signed the note, and another did not', async () => {
    expect(await signatureBy(one)).toBe('valid')
    expect(await signatureBy(two)).toBe('missing')
  })

  test('a note with another text has a wrong signature', async () => {
    expect(await signatureBy(one, note.replace('\n1\n', '\n2\n'))).toBe('invalid')
  })

  test.each(['', 'x', one.vkey.replace('+56ce111f+', '+56ce1110+'), `${one.vkey}=`])(
    'the key %j is refused',
    async (vkey) => {
      expect(await readKey(vkey)).toBeNull()
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
    const hash = createHash('sha256')
      .update(leafText(headerOf('org_acme', forged)))
      .digest('hex')
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
    const seen = { vkey: one.vkey, note: readProof(vector.tlog_proof)!.checkpoint.note }
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
    const erased = { ...at(2), payload: null, salt: null }

    expect(await entryFault(erased, readProof(vector.tlog_proof)!)).toBeNull()
  })
})
