import { describe, expect, test } from 'vitest'
import {
  buildChain,
  decision,
  decisions,
  rotation,
  testSigner,
} from '../../../test/ledger/chain.ts'
import type { Draft } from '../../../test/ledger/chain.ts'
import { check, codes } from '../../../test/ledger/check.ts'
import { signCheckpoint, parseVerifierKey } from '../format/note.ts'
import { createChainVerifier } from './chain.ts'

const chain = buildChain(decisions(20))

const beyond = (count: number, seq: number) =>
  new RegExp(`^The roots of ${count} checkpoints beyond seq ${seq}:`)

describe('the end of the chain', () => {
  const cut = chain.rows.slice(0, 15)
  const repaired = {
    size: 15,
    hash: chain.rows[14]!.hash,
    frontier: chain.frontiers[15]!,
    checkpoint: chain.notes[15]!,
  }

  test('is not known to be complete if a checkpoint from outside disagrees: another branch went on', () => {
    const other = signCheckpoint(testSigner(chain.origin, 'one'), {
      origin: chain.origin,
      size: 8,
      root: 'a'.repeat(64),
    })
    const report = check(chain, { external: [other, chain.notes[21]!] })

    expect(report).toMatchObject({ status: 'tampered', truncation_checked: false })
    expect(report.checkpoints).toMatchObject({ mismatched: 1 })
  })

  test('cut off, with the head still there', () => {
    const report = check(chain, { rows: cut })

    expect(report).toMatchObject({ status: 'behind_checkpoint', truncation_checked: false })
    expect(codes(report)).toEqual(['15 truncated', '15 truncated'])
  })

  test('cut off, with the head repaired but a checkpoint forgotten', () => {
    const report = check(chain, { rows: cut, head: repaired, notes: [chain.notes[17]!] })

    expect(report.status).toBe('behind_checkpoint')
    expect(report.first_invalid).toEqual({ seq: 15, code: 'truncated' })
  })

  test('rolled back to an older signed state shows only against a checkpoint kept outside', () => {
    const inside = check(chain, { rows: cut, head: repaired })
    const outside = check(chain, { rows: cut, head: repaired, external: [chain.notes[20]!] })

    expect(inside).toMatchObject({ status: 'ok', truncation_checked: false })
    expect(inside.not_checked.join(' ')).toContain('A rollback to an older signed state')
    expect(outside).toMatchObject({ status: 'behind_checkpoint', error_count: 1 })
  })

  test.each([
    ['no checkpoint from outside', [], false],
    ['an older checkpoint from outside', [8], false],
    ['the newest checkpoint from outside', [21], true],
    ['one at the end and one that is ahead of it', [21, 30], false],
    ['an older one and the newest', [8, 21], true],
  ])('is known to be complete with %s: %j, %s', (_, sizes, isKnown) => {
    const ahead = (size: number) =>
      signCheckpoint(testSigner(chain.origin, 'one'), {
        origin: chain.origin,
        size,
        root: 'a'.repeat(64),
      })
    const external = sizes.map((size) => chain.notes[size] ?? ahead(size))
    const { truncation_checked, not_checked } = check(chain, { external })
    const agreeing = sizes.filter((size) => chain.notes[size] !== undefined)

    expect(truncation_checked).toBe(isKnown)
    expect(not_checked).toContainEqual(
      expect.stringMatching(
        sizes.length === 0
          ? /^Missing entries at the end: no external checkpoint/
          : new RegExp(`^Missing entries after the first ${Math.max(...agreeing)}:`),
      ),
    )
  })

  test('cannot be made to look cut by a checkpoint that nobody signed', () => {
    const forged = signCheckpoint(testSigner(chain.origin, 'forger'), {
      origin: chain.origin,
      size: 30,
      root: 'a'.repeat(64),
    })

    expect(codes(check(chain, { external: [forged] }))).toEqual(['20 checkpoint_signature'])
  })

  test('missing altogether', () => {
    const empty = { size: 0, hash: '0'.repeat(64), frontier: '', checkpoint: null }

    expect(codes(check(chain, { rows: [], head: empty }))).toEqual([
      '0 bad_genesis',
      '0 unsigned_tail',
    ])
    expect(check(chain, { rows: [] }).status).toBe('tampered')
  })

  test('damaged and cut is tampered, not merely behind', () => {
    const rows = cut.with(3, { ...cut[3]!, payload: '{}' })

    expect(check(chain, { rows }).status).toBe('tampered')
  })

  test.each([
    ['its size', { size: 20 }],
    ['its hash', { hash: 'a'.repeat(64) }],
    ['its frontier', { frontier: chain.frontiers[20]! }],
  ])('a head with %s wrong', (_, change) => {
    const report = check(chain, { head: { ...chain.head, ...change } })

    expect(codes(report)).toEqual(['20 head_mismatch'])
  })

  test('unsigned is an error even when no checkpoint is there at all', () => {
    const report = check(chain, { head: { ...chain.head, checkpoint: null } })

    expect(codes(report)).toEqual(['0 unsigned_tail'])
  })

  test('not reached, because the source ended early', () => {
    const report = check(chain, { rows: cut, incomplete: true, notes: [chain.notes[8]!] })

    expect(report).toMatchObject({
      status: 'incomplete',
      error_count: 0,
      truncation_checked: false,
    })
    expect(report.not_checked.join(' ')).toContain('the source ended there, before its signed end')
  })

  test('not asked for says nothing about checkpoints beyond', () => {
    const report = check(chain, {
      rows: cut,
      stopped: true,
      notes: [chain.notes[8]!, chain.notes[18]!],
    })

    expect(report).toMatchObject({
      status: 'ok',
      anchored_by: 'signature',
      truncation_checked: false,
    })
    expect(report.checkpoints).toEqual({ checked: 1, mismatched: 0 })
    expect(report.not_checked).toContainEqual(expect.stringMatching(beyond(1, 14)))
  })

  test('not there, because the source ended early, leaves out what it would have confirmed', () => {
    const kept = [chain.notes[8]!, chain.notes[18]!, chain.notes[20]!]
    const report = check(chain, { rows: cut, incomplete: true, external: kept })

    expect(report).toMatchObject({ status: 'incomplete', checkpoints: { checked: 1 } })
    expect(report.not_checked).toContainEqual(expect.stringMatching(beyond(2, 14)))
  })

  test('left out on purpose is not missed by a newer checkpoint', () => {
    const notes = [chain.notes[15]!]
    const report = check(chain, { rows: cut, continues: true, notes, external: [chain.notes[18]!] })

    expect(report).toMatchObject({
      status: 'ok',
      anchored_by: 'signature',
      truncation_checked: false,
      checkpoints: { checked: 1, mismatched: 0 },
    })
    expect(report.not_checked).toContainEqual(expect.stringMatching(beyond(1, 14)))
  })

  test('left out on purpose is not signed by a newer checkpoint either', () => {
    const notes = [chain.notes[12]!]
    const report = check(chain, { rows: cut, continues: true, notes, external: [chain.notes[18]!] })

    expect(codes(report)).toEqual(['12 unsigned_tail'])
  })

  test('there to its end leaves out no checkpoint', () => {
    const { not_checked } = check(chain, { external: [chain.notes[21]!] })

    expect(not_checked.join(' ')).not.toContain('beyond seq')
  })

  test('not asked for is not confirmed by a checkpoint of just that size', () => {
    const report = check(chain, { rows: cut, stopped: true, notes: [chain.notes[15]!] })

    expect(report).toMatchObject({ anchored_by: 'signature', truncation_checked: false })
  })

  test('a checkpoint given too late is left out, and the report says so', () => {
    const verifier = createChainVerifier({ org_id: chain.org_id })
    for (const row of chain.rows) verifier.entry(row)
    verifier.checkpoint(chain.notes[5]!)
    verifier.checkpoint(chain.notes[21]!)

    const report = verifier.finish()

    expect(report.checkpoints).toEqual({ checked: 1, mismatched: 0 })
    expect(report.not_checked.join(' ')).toContain('The roots of 1 checkpoints')
  })

  test('a note that is no checkpoint is an error, not an exception', () => {
    expect(codes(check(chain, { notes: ['', 'rubbish\n\n— x y\n'] }))).toEqual([
      '0 malformed_checkpoint',
      '0 malformed_checkpoint',
    ])
  })

  test('a note that lost its last newline is none, whatever its text says', () => {
    const cutOff = chain.head.checkpoint.slice(0, -1)
    const head = { ...chain.head, checkpoint: cutOff }

    expect(codes(check(chain, { notes: [cutOff] }))).toEqual(['0 malformed_checkpoint'])
    expect(codes(check(chain, { head }))).toEqual(['0 unsigned_tail', '20 malformed_checkpoint'])
  })
})

describe('erasure', () => {
  const erased = (...seqs: number[]): Draft => ({
    kind: 'ledger.erased',
    payload: { data: { seqs, basis: 'GDPR Art. 17' } },
  })
  const withErasure = buildChain([...decisions(6), erased(2, 4), decision(9)])
  const without = (...seqs: number[]) =>
    withErasure.rows.map((row) =>
      seqs.includes(row.seq) ? { ...row, salt: null, payload: null } : row,
    )

  test('that a later entry records leaves the chain ok and is counted', () => {
    const report = check(withErasure, { rows: without(2, 4) })

    expect(report).toMatchObject({ status: 'ok', redacted: 2, anchored_by: 'signature' })
    expect(report.not_checked.join(' ')).toContain('The content of 2 erased payloads')
  })

  test('that no entry records is an error', () => {
    const report = check(withErasure, { rows: without(2, 3, 4) })

    expect(codes(report)).toEqual(['3 payload_missing'])
    expect(report.redacted).toBe(2)
  })

  test('cannot be recorded in advance', () => {
    const early = buildChain([erased(2), ...decisions(3)])
    const rows = early.rows.with(2, { ...early.rows[2]!, salt: null, payload: null })

    expect(codes(check(early, { rows }))).toEqual(['2 payload_missing'])
  })

  test('cannot reach the ledger’s own entries', () => {
    expect(codes(check(withErasure, { rows: without(0) }))).toEqual(['0 payload_missing'])
    expect(codes(check(withErasure, { rows: without(2, 4, 7) }))).toEqual([
      '2 payload_missing',
      '4 payload_missing',
      '7 payload_missing',
    ])
  })

  test('does not reach genesis even when an entry says so', () => {
    const bold = buildChain([decision(1), erased(0)])
    const rows = bold.rows.with(0, { ...bold.rows[0]!, salt: null, payload: null })

    expect(codes(check(bold, { rows }))).toEqual(['0 payload_missing'])
  })

  test('may be explained by entries that were not read', () => {
    const report = check(withErasure, { rows: without(2).slice(0, 5), stopped: true })

    expect(report.status).toBe('ok')
    expect(report.not_checked.join(' ')).toContain('The reason why 1 payloads are missing')
  })
})

describe('a change of the signing key', () => {
  const turn = rotation(chain.origin, 'one', 'two')
  const turned = buildChain([...decisions(4), turn, ...decisions(4)], { keys: ['one', 'two'] })
  const [one, two] = ['one', 'two'].map((key) =>
    parseVerifierKey(testSigner(chain.origin, key).vkey),
  )

  test('is followed from the old key, which signed the entry that announces the new one', () => {
    const report = check(turned, { notes: turned.notes.slice(1), vkey: two!.vkey })

    expect(report).toMatchObject({
      status: 'ok',
      anchored_by: 'signature',
      truncation_checked: false,
    })
    expect(report.checkpoints).toEqual({ checked: 11, mismatched: 0 })
  })

  test('is followed only by a verifier that pins the new key', () => {
    expect(check(turned, { notes: turned.notes.slice(1), verifiers: [two!] })).toMatchObject({
      status: 'ok',
      anchored_by: 'signature',
    })
  })

  test('is not believed without the old key’s checkpoint over it', () => {
    const report = check(turned)

    expect(codes(report)).toEqual(['9 untrusted_key'])
    expect(report.anchored_by).toBe('none')
    expect(check(turned, { verifiers: [one!, two!] }).status).toBe('ok')
  })

  test('is not believed when the announced key vouches for itself', () => {
    const forged = buildChain([...decisions(4), turn, ...decisions(4)], { keys: ['two', 'two'] })
    const genesis = buildChain([...decisions(4), turn, ...decisions(4)], {
      keys: ['two', 'two'],
      genesis: { vkey: one!.vkey },
    })

    expect(check(forged, { notes: forged.notes.slice(1) }).status).toBe('tampered')
    expect(codes(check(genesis, { notes: [genesis.notes[6]!] }))).toContain(
      '5 checkpoint_signature',
    )
  })

  test('ends the old key: it signs nothing after', () => {
    const { origin } = turned
    const stale = buildChain([...decisions(4), turn, ...decisions(4)], { keys: ['one', 'one'] })

    expect(stale.origin).toBe(origin)
    expect(codes(check(stale, { notes: [stale.notes[6]!] }))).toEqual(['9 checkpoint_signature'])
  })

  test('by a key that nobody trusts does not make the next one trusted', () => {
    const self = rotation(chain.origin, 'forger', 'two')
    const forged = buildChain([self, decision(2)], { keys: ['forger', 'two'] })

    expect(codes(check(forged, { notes: [forged.notes[2]!] }))).toEqual(['2 untrusted_key'])
  })

  test('among entries that were cut off does not hide that they were', () => {
    const { hash } = turned.rows[2]!
    const head = { size: 3, hash, frontier: turned.frontiers[3]!, checkpoint: turned.notes[3]! }
    const cutOff = { rows: turned.rows.slice(0, 3), head, external: [turned.head.checkpoint] }

    expect(check(turned, { ...cutOff, verifiers: [one!, two!] }).status).toBe('behind_checkpoint')
    expect(codes(check(turned, cutOff))).toEqual(['2 checkpoint_signature'])
  })

  test('must start from the key in force', () => {
    const odd = buildChain([rotation(chain.origin, 'three', 'two')])

    expect(codes(check(odd))).toEqual(['1 bad_rotation'])
  })

  test('is followed when verification begins after genesis', () => {
    const { rows, frontiers, notes } = turned
    const start = { size: 3, hash: rows[2]!.hash, frontier: frontiers[3]! }

    const report = check(turned, { rows: rows.slice(3), start, notes: notes.slice(4) })

    expect(report).toMatchObject({ status: 'ok', anchored_by: 'signature' })
  })

  test('shows when the key that is said to be in force is another', () => {
    expect(codes(check(turned, { notes: turned.notes.slice(1), vkey: one!.vkey }))).toEqual([
      '9 head_mismatch',
    ])
  })
})
