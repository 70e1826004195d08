import { commitmentOf } from '../../src/ledger/format/entry.ts'
import type { StoredEntry } from '../../src/ledger/format/entry.ts'
import { formatHeaderLine } from '../../src/ledger/verify/export.ts'
import { addSignature } from '../../src/ledger/format/note.ts'
import { exportOf, seal, testSigner } from './chain.ts'
import type { TestChain } from './chain.ts'
import { pruningVectors, startOf } from './pruning-vectors.ts'

/** One export with what a verifier must say about it. */
export interface ExportVector {
  readonly name: string
  readonly vkey: string | null
  /** Notes kept outside. */
  readonly checkpoints: readonly string[]
  /** Without their newlines. */
  readonly lines: readonly string[]
  readonly status: string
  readonly anchored_by: string
  /** Null when the verdict has no error. */
  readonly first_invalid: { readonly seq: number; readonly code: string } | null
}

type Expected = readonly [status: string, anchoredBy: string, seq?: number, code?: string]

/** Exports of a small chain, sound and tampered with, in every way that has a code of its own. */
export function exportVectors(chain: TestChain, rotated: TestChain): ExportVector[] {
  const { vkey, notes } = chain
  const rows = chain.rows.map((row) =>
    row.seq === 2 ? { ...row, salt: null, payload: null } : row,
  )
  const sound = exportOf(chain, rows)
  const two = testSigner(chain.origin, 'two').vkey
  const turned = exportOf({ ...rotated, vkey: two })
  const turning = (also: string | null) => {
    const note = rotated.notes[3]!
    const signed = also === null ? note : addSignature(note, testSigner(chain.origin, 'two'))
    return exportOf({ ...rotated, vkey: two }, rotated.rows.slice(0, 3), signed)
  }

  const vector = (
    name: string,
    lines: readonly string[],
    [status, anchored_by, seq, code]: Expected,
    given: { vkey?: string | null; checkpoints?: readonly string[] } = {},
  ): ExportVector => ({
    name,
    vkey: given.vkey === undefined ? vkey : given.vkey,
    checkpoints: given.checkpoints ?? [],
    lines: lines.map((line) => line.replace(/\n$/, '')),
    status,
    anchored_by,
    first_invalid: seq === undefined || code === undefined ? null : { seq, code },
  })
  /** With one entry changed and nothing else. */
  const edited = (seq: number, change: Partial<StoredEntry>) =>
    exportOf(chain, rows.with(seq, { ...rows[seq]!, ...change }))
  /** With the last entry changed and hashed again. */
  const resealed = (change: Partial<StoredEntry>) => {
    const payload = change.payload ?? rows[6]!.payload!
    const commitment = commitmentOf(rows[6]!.salt!, payload)
    return exportOf(chain, rows.with(6, seal({ ...rows[6]!, commitment, ...change })))
  }
  const start = startOf(chain, 4)
  const tail = sound.slice(5)
  const forged = testSigner(chain.origin, 'forger').sign(
    `${chain.head.checkpoint.split('\n\n')[0]}\n`,
  )
  const elsewhere = testSigner(chain.origin).sign(
    `${chain.head.checkpoint.split('\n\n')[0]}\n`.replace('org_acme', 'org_b'),
  )

  return [
    vector('sound', sound, ['ok', 'signature']),
    vector('sound, no key pinned', sound, ['ok', 'none'], { vkey: null }),
    vector('sound, a checkpoint kept outside', sound, ['ok', 'external'], {
      checkpoints: [notes[4]!],
    }),
    vector(
      'sound, from seq 4',
      [formatHeaderLine({ ...chain, from_seq: 4, start }), ...tail],
      ['ok', 'signature'],
    ),
    vector(
      'sound, from seq 4 with the key there',
      [formatHeaderLine({ ...chain, from_seq: 4, start: { ...start, vkey } }), ...tail],
      ['ok', 'signature'],
    ),
    vector(
      'from seq 4 with another key there',
      [formatHeaderLine({ ...chain, from_seq: 4, start: { ...start, vkey: two } }), ...tail],
      ['tampered', 'none', 6, 'checkpoint_signature'],
    ),
    vector('sound, new signing key pinned', turned, ['ok', 'signature'], { vkey: two }),
    vector(
      'sound, ends with the rotation, new signing key pinned',
      turning(two),
      ['ok', 'signature'],
      {
        vkey: two,
      },
    ),
    vector(
      'ends with the rotation, and the new key has not signed it',
      turning(null),
      ['tampered', 'none', 2, 'untrusted_key'],
      { vkey: two },
    ),
    vector('key rotation without the old key’s checkpoint', turned, [
      'tampered',
      'none',
      4,
      'untrusted_key',
    ]),
    vector('key rotation with the old key’s checkpoint', turned, ['ok', 'external'], {
      checkpoints: [rotated.notes[3]!],
    }),
    vector('payload changed', edited(1, { payload: rows[1]!.payload!.replace('1.50', '9.50') }), [
      'tampered',
      'signature',
      1,
      'commitment_mismatch',
    ]),
    vector('salt changed', edited(1, { salt: 'f'.repeat(32) }), [
      'tampered',
      'signature',
      1,
      'commitment_mismatch',
    ]),
    vector('time changed', edited(3, { recorded_at: '2026-11-20T08:00:00.751Z' }), [
      'tampered',
      'none',
      3,
      'hash_mismatch',
    ]),
    vector('kind changed', edited(3, { kind: 'entry.approved' }), [
      'tampered',
      'none',
      3,
      'hash_mismatch',
    ]),
    vector('hash changed', edited(3, { hash: '0'.repeat(64) }), [
      'tampered',
      'signature',
      3,
      'hash_mismatch',
    ]),
    vector('link changed', edited(3, { prev_hash: '0'.repeat(64) }), [
      'tampered',
      'none',
      3,
      'broken_link',
    ]),
    vector('payload gone, not recorded', edited(3, { salt: null, payload: null }), [
      'tampered',
      'signature',
      3,
      'payload_missing',
    ]),
    vector('time runs backwards', resealed({ recorded_at: '2026-11-20T08:00:00.000Z' }), [
      'tampered',
      'none',
      6,
      'time_decreased',
    ]),
    vector('time in another form', resealed({ recorded_at: '2026-11-20T09:00:00Z' }), [
      'tampered',
      'none',
      6,
      'malformed_header',
    ]),
    vector(
      'last entry edited and hashed again',
      resealed({ payload: rows[6]!.payload!.replace('6.50', '9.50') }),
      ['tampered', 'none', 6, 'checkpoint_root'],
    ),
    vector('entry left out', sound.toSpliced(4, 1), ['tampered', 'none', 3, 'gap']),
    vector('entry doubled', sound.toSpliced(4, 0, sound[4]!), [
      'tampered',
      'signature',
      4,
      'out_of_order',
    ]),
    vector('last entry left out', sound.toSpliced(7, 1), [
      'behind_checkpoint',
      'none',
      6,
      'truncated',
    ]),
    vector('entry after the signed end', exportOf(chain, rows, notes[6]), [
      'tampered',
      'none',
      6,
      'unsigned_tail',
    ]),
    vector('checkpoint of another key', exportOf(chain, rows, forged), [
      'tampered',
      'none',
      6,
      'checkpoint_signature',
    ]),
    vector('checkpoint of another ledger', exportOf(chain, rows, elsewhere), [
      'tampered',
      'none',
      6,
      'checkpoint_origin',
    ]),
    vector('checkpoint that is none', exportOf(chain, rows, 'rubbish'), [
      'tampered',
      'none',
      0,
      'unsigned_tail',
    ]),
    vector(
      'checkpoint without its last newline',
      exportOf(chain, rows, chain.head.checkpoint.slice(0, -1)),
      ['tampered', 'none', 0, 'unsigned_tail'],
    ),
    vector('no key for what was signed', sound, ['tampered', 'none', 6, 'untrusted_key'], {
      vkey: testSigner(chain.origin, 'forger').vkey,
    }),
    vector(
      'a checkpoint kept outside disagrees',
      sound,
      ['tampered', 'signature', 2, 'checkpoint_root'],
      {
        checkpoints: [rotated.notes[3]!],
      },
    ),
    vector(
      'a checkpoint kept outside is ahead',
      exportOf(chain, rows.slice(0, 6), notes[6]),
      ['behind_checkpoint', 'signature', 6, 'truncated'],
      {
        checkpoints: [notes[7]!],
      },
    ),
    vector(
      'another ledger id in the header',
      [sound[0]!.replace('"ledger_id":"led_01"', '"ledger_id":"led_02"'), ...sound.slice(1)],
      ['tampered', 'signature', 0, 'bad_genesis'],
    ),
    vector(
      'another key in the header',
      [sound[0]!.replace(vkey, two), ...sound.slice(1)],
      ['tampered', 'signature', 6, 'head_mismatch'],
    ),
    vector(
      'a member hidden in a line',
      sound.with(2, sound[2]!.replace('"seq":1,', '"seq":2,"seq":1,')),
      ['tampered', 'none', 1, 'malformed_line'],
    ),
    vector(
      'a line after the end',
      [...sound, sound[4]!],
      ['tampered', 'signature', 7, 'malformed_line'],
    ),
    vector('cut before the checkpoint', sound.slice(0, -1), ['incomplete', 'none']),
    vector(
      'cut in the middle of a line',
      [...sound.slice(0, -2), sound.at(-2)!.slice(0, 90)],
      ['incomplete', 'none'],
    ),
    vector(
      'from seq 4 without its start',
      [formatHeaderLine({ ...chain, from_seq: 4 }), ...tail],
      ['incomplete', 'none'],
    ),
    ...pruningVectors(),
  ]
}
