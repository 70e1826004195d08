import { describe, expect, test } from 'vitest'
import { buildChain, decision, decisions, seal, testSigner } from '../../../test/ledger/chain.ts'
import type { TestChain } from '../../../test/ledger/chain.ts'
import { check, codes } from '../../../test/ledger/check.ts'
import { commitmentOf } from '../format/entry.ts'
import type { StoredEntry } from '../format/entry.ts'

const chain = buildChain(decisions(20))
const edited = (seq: number, change: Partial<StoredEntry>) =>
  chain.rows.with(seq, { ...chain.rows[seq]!, ...change })

describe('a sound chain', () => {
  test('is ok up to its last entry, and says what holds it', () => {
    const report = check(chain, { notes: [chain.notes[8]!, chain.notes[16]!] })

    expect(report).toMatchObject({
      status: 'ok',
      checked: { from_seq: 0, to_seq: 20, entries: 21 },
      head: { seq: 20, hash: chain.head.hash },
      anchored_by: 'signature',
      truncation_checked: false,
      redacted: 0,
      first_invalid: null,
      errors: [],
      error_count: 0,
      gaps: 0,
      checkpoints: { checked: 3, mismatched: 0 },
    })
  })

  test('is the same chain when every payload is read as well', () => {
    expect(check(chain, { deep: true }).status).toBe('ok')
  })

  test('is never called more than it is: the report names what it cannot know', () => {
    const signed = check(chain).not_checked.join(' ')
    const unpinned = check(chain, { verifiers: [] })
    const outside = check(chain, { external: [chain.notes[10]!], deep: true }).not_checked.join(' ')

    expect(signed).toContain('only an external checkpoint can detect it')
    expect(signed).toContain('only their hashes were compared')
    expect(unpinned).toMatchObject({ status: 'ok', anchored_by: 'none', truncation_checked: false })
    expect(unpinned.not_checked.join(' ')).toContain('no trusted key was given')
    expect(outside).toContain(
      'A rewrite of the entries from seq 10 on by a holder of the signing key',
    )
    expect(outside).not.toContain('only their hashes')
  })

  test('is held from outside once an external checkpoint agrees', () => {
    expect(check(chain, { external: [chain.notes[10]!] }).anchored_by).toBe('external')
    expect(check(chain, { external: [chain.head.checkpoint], verifiers: [] })).toMatchObject({
      anchored_by: 'external',
      truncation_checked: true,
    })
  })

  test('can be verified in two halves, the second from the state of the first', () => {
    const [hash, frontier] = [chain.rows[9]!.hash, chain.frontiers[10]!]
    const start = { size: 10, hash, frontier, recorded_at: chain.rows[9]!.recorded_at }

    const first = check(chain, { rows: chain.rows.slice(0, 10), stopped: true })
    const second = check(chain, { rows: chain.rows.slice(10), start })

    expect(first).toMatchObject({ status: 'ok', truncation_checked: false, anchored_by: 'none' })
    expect(first.not_checked.join(' ')).toContain('Entries after seq 9: they were not requested.')
    expect(second).toMatchObject({
      status: 'ok',
      checked: { from_seq: 10, to_seq: 20, entries: 11 },
      anchored_by: 'signature',
    })
    expect(second.root).toBe(check(chain).root)
    expect(second.not_checked.join(' ')).toContain('The entries before seq 10')
  })

  test('may have grown by nothing since the last verification', () => {
    const { size, hash, frontier } = chain.head

    const report = check(chain, { rows: [], start: { size, hash, frontier } })

    expect(report).toMatchObject({
      status: 'ok',
      checked: { from_seq: 21, to_seq: 20, entries: 0 },
    })
  })

  test('links without roots when the state before it is not known', () => {
    const report = check(chain, { rows: chain.rows.slice(5), start: { size: 5 } })

    expect(report).toMatchObject({ status: 'ok', root: null, anchored_by: 'none' })
    expect(report.checkpoints).toEqual({ checked: 0, mismatched: 0 })
    expect(report.not_checked.join(' ')).toContain('The roots of 1 checkpoints')
  })
})

describe('each single change shows where it was made', () => {
  const other = '1'.repeat(64)
  const forged = chain.rows[7]!.payload!.replace('allow', 'grant')

  test.each<[string, Partial<StoredEntry>, string]>([
    ['its payload', { payload: forged }, '7 commitment_mismatch'],
    ['its salt', { salt: 'f'.repeat(32) }, '7 commitment_mismatch'],
    ['its hash', { hash: other }, '7 hash_mismatch'],
    ['its payload and salt gone', { payload: null, salt: null }, '7 payload_missing'],
    ['its payload gone', { payload: null }, '7 commitment_mismatch'],
    ['its salt gone', { salt: null }, '7 commitment_mismatch'],
  ])('an entry with %s changed', (_, change, error) => {
    const report = check(chain, { rows: edited(7, change) })

    expect(codes(report)).toEqual([error])
    expect(report).toMatchObject({ status: 'tampered', first_invalid: { seq: 7 }, error_count: 1 })
  })

  test.each<[string, Partial<StoredEntry>, string[]]>([
    ['its kind', { kind: 'authorization.made' }, ['7 hash_mismatch']],
    ['its time', { recorded_at: '2026-11-20T08:00:01.800Z' }, ['7 hash_mismatch']],
    ['its link', { prev_hash: other }, ['7 broken_link', '7 hash_mismatch']],
    ['its commitment', { commitment: other }, ['7 hash_mismatch', '7 commitment_mismatch']],
    ['its organization', { org_id: 'org_x' }, ['7 wrong_org', '7 hash_mismatch']],
    [
      'an earlier time',
      { recorded_at: '2026-11-20T08:00:00.000Z' },
      ['7 time_decreased', '7 hash_mismatch'],
    ],
    [
      'a time in another form',
      { recorded_at: '2026-11-20 08:00:01' },
      ['7 malformed_header', '7 time_decreased', '7 hash_mismatch'],
    ],
    ['a kind with a newline', { kind: 'a\nb' }, ['7 malformed_header', '7 hash_mismatch']],
  ])('an entry with %s changed shows all that is wrong with it', (_, change, errors) => {
    const report = check(chain, { rows: edited(7, change) })

    expect(codes(report).filter((code) => code.startsWith('7 '))).toEqual(errors)
    expect(report.status).toBe('tampered')
  })

  test('a time far ahead does not make all later entries look late', () => {
    const report = check(chain, { rows: edited(7, { recorded_at: '2030-01-01T00:00:00.000Z' }) })

    expect(codes(report)).toEqual(['7 hash_mismatch', '20 head_mismatch', '20 checkpoint_root'])
  })

  test('an entry left out is a gap, and nothing after it is trusted', () => {
    const report = check(chain, { rows: chain.rows.toSpliced(7, 1), notes: [chain.notes[16]!] })

    expect(report).toMatchObject({ status: 'tampered', gaps: 1, root: null, anchored_by: 'none' })
    expect(codes(report)).toEqual(['7 gap', '15 checkpoint_root', '20 checkpoint_root'])
  })

  test('a checkpoint of exactly the size that a gap skipped is not forgotten', () => {
    const report = check(chain, { rows: chain.rows.toSpliced(7, 1), notes: [chain.notes[8]!] })

    expect(codes(report)).toEqual(['7 gap', '7 checkpoint_root', '20 checkpoint_root'])
  })

  test('an entry given twice is out of order, the rest of the chain is not harmed', () => {
    const report = check(chain, { rows: chain.rows.toSpliced(7, 0, chain.rows[6]!) })

    expect(codes(report)).toEqual(['7 out_of_order'])
  })

  test('two entries that changed places', () => {
    const [six, seven] = [chain.rows[6]!, chain.rows[7]!]

    const report = check(chain, { rows: chain.rows.with(6, seven).with(7, six) })

    expect(codes(report)).toEqual(expect.arrayContaining(['6 gap', '8 out_of_order']))
    expect(report.status).toBe('tampered')
  })

  test('a row number that is no number does not break the walk', () => {
    const report = check(chain, { rows: edited(7, { seq: Number.NaN }) })

    expect(codes(report).slice(0, 2)).toEqual(['7 out_of_order', '7 gap'])
  })

  test('more than a hundred errors are counted, not kept', () => {
    const long = buildChain(decisions(300))
    const rows = long.rows.map((row) => ({ ...row, hash: other }))

    const report = check(long, { rows, verifiers: [] })

    expect(report.error_count).toBeGreaterThan(300)
    expect(report.errors).toHaveLength(100)
    expect(report.first_invalid).toEqual({ seq: 0, code: 'hash_mismatch' })
  })
})

describe('attacks that a walk along the links alone would miss', () => {
  /** Edits one entry and makes everything after it fit again, head row included. */
  function rewritten(seq: number): TestChain {
    const drafts = decisions(20).with(seq - 1, decision(99))
    return buildChain(drafts, { keys: ['forger'], genesis: { vkey: chain.vkey } })
  }

  test('an entry edited and everything after it hashed again', () => {
    const forged = rewritten(7)

    const report = check(forged, { head: { ...forged.head, checkpoint: chain.head.checkpoint } })

    expect(codes(report)).toEqual(['20 checkpoint_root'])
  })

  test('the same, signed with another key', () => {
    expect(codes(check(rewritten(7)))).toEqual(['20 checkpoint_signature'])
  })

  test('the same, with that other key in the genesis entry too', () => {
    const forged = buildChain(decisions(20), { keys: ['forger'] })

    expect(codes(check(forged))).toEqual(['20 untrusted_key'])
    expect(check(forged).anchored_by).toBe('none')
  })

  test('a stored checkpoint in the middle finds what a later signature hides', () => {
    const forged = buildChain(decisions(20).with(6, decision(99)))

    const report = check(forged, { notes: [chain.notes[16]!] })

    expect(codes(report)).toEqual(['15 checkpoint_root'])
    expect(report.checkpoints).toEqual({ checked: 2, mismatched: 1 })
    expect(report.agreed_to).toBe(-1)
  })

  test('what lies under the last checkpoint that agreed is not in doubt', () => {
    const forged = buildChain(decisions(20).with(12, decision(99)))
    const notes = [forged.notes[8]!, chain.notes[16]!, forged.notes[18]!]

    expect(check(forged, { notes })).toMatchObject({
      first_invalid: { seq: 15, code: 'checkpoint_root' },
      agreed_to: 7,
    })
    expect(check(chain, { notes: [chain.notes[8]!] }).agreed_to).toBe(20)
  })

  test('a rewrite with the real key, against a checkpoint kept outside', () => {
    const forged = buildChain(decisions(20).with(6, decision(99)))

    expect(check(forged).status).toBe('ok')
    expect(check(forged, { external: [chain.notes[10]!] })).toMatchObject({
      status: 'tampered',
      anchored_by: 'signature',
      first_invalid: { seq: 9, code: 'checkpoint_root' },
    })
  })

  test('an entry appended properly, but never signed', () => {
    const longer = buildChain([...decisions(20), decision(77)])

    const report = check(longer, { head: { ...longer.head, checkpoint: chain.head.checkpoint } })

    expect(codes(report)).toEqual(['21 unsigned_tail'])
  })

  test('an entry of the same content replayed without its place', () => {
    const replayed = seal({ ...chain.rows[7]!, seq: 21, prev_hash: chain.head.hash })

    const report = check(chain, { rows: [...chain.rows, replayed] })

    expect(codes(report)).toContain('21 time_decreased')
    expect(report.status).toBe('tampered')
  })

  test('a payload and its commitment replaced, hash and all', () => {
    const old = chain.rows[20]!
    const payload = old.payload!.replace('allow', 'grant')
    const row = seal({ ...old, payload, commitment: commitmentOf(old.salt!, payload) })
    const head = { ...chain.head, hash: row.hash }

    expect(codes(check(chain, { rows: chain.rows.with(20, row), head }))).toEqual([
      '20 head_mismatch',
      '20 checkpoint_root',
    ])
  })

  test('a payload that hides a second spelling is found by the deep reading', () => {
    const odd = buildChain([{ kind: 'x.y', payload: { data: { a: 1 } } }])
    const row = odd.rows[1]!
    const payload = row.payload!.replace('"data":{"a":1}', '"data":{"a":2,"a":1}')
    const doubled = seal({ ...row, payload, commitment: commitmentOf(row.salt!, payload) })

    const report = check(odd, { rows: [odd.rows[0]!, doubled], deep: true, stopped: true })

    expect(codes(report)).toEqual(['1 malformed_payload'])
  })
})

describe('a header or payload that could never have been written', () => {
  /** A last entry of any shape, properly hashed, without an end to compare with. */
  const last = (change: Partial<StoredEntry>) => {
    const row = { ...chain.rows[20]!, ...change }
    const { salt, payload } = row
    const commitment = salt && payload ? commitmentOf(salt, payload) : row.commitment
    return check(chain, { rows: chain.rows.with(20, seal({ ...row, commitment })), stopped: true })
  }

  test.each<[string, Partial<StoredEntry>, string]>([
    ['a payload that is no object', { payload: 'true' }, '20 malformed_payload'],
    ['a payload without its end', { payload: '{"action":null' }, '20 malformed_payload'],
    ['a second genesis', { kind: 'ledger.genesis' }, '20 bad_genesis'],
    [
      'an erased payload under no commitment',
      { payload: null, salt: null, commitment: 'x', recorded_at: chain.rows[19]!.recorded_at },
      '20 malformed_header',
    ],
  ])('%s', (_, change, error) => {
    expect(codes(last(change))).toEqual([error])
  })

  test('a beginning that is not genesis', () => {
    const first = seal({ ...chain.rows[0]!, kind: 'entry.appended' })

    expect(codes(check(chain, { rows: [first], stopped: true }))).toEqual(['0 bad_genesis'])
  })

  test.each([
    ['org_id', 'org_other'],
    ['ledger_id', 7],
    ['origin', null],
    ['vkey', 'rubbish'],
    ['vkey', null],
  ])('a genesis whose %s is %j', (name, value) => {
    const odd = buildChain([], { genesis: { [name]: value } })

    const report = check(odd, { stopped: true })

    expect(report.errors).toEqual([{ seq: 0, code: 'bad_genesis', detail: name }])
  })
})

test('a chain of another organization, or another ledger of it, is not this chain', () => {
  const wrong = check(chain, { org_id: 'org_other', stopped: true })
  const otherLedger = check(chain, { ledger_id: 'led_02' })
  const otherOrigin = check(chain, { origin: 'elsewhere.example.com/ledger/org_acme/led_01' })

  expect(codes(wrong)).toContain('0 wrong_org')
  expect(codes(otherLedger)).toEqual(['0 bad_genesis'])
  expect(codes(otherOrigin)).toEqual(['0 bad_genesis', '20 checkpoint_origin'])
})

test('a checkpoint of the same key for another ledger says nothing about this one', () => {
  const stranger = buildChain(decisions(20), { org_id: 'org_b' })
  const name = testSigner(chain.origin).sign(stranger.notes[5]!.split('\n\n')[0]! + '\n')

  const report = check(chain, { notes: [name] })

  expect(codes(report)).toEqual(['4 checkpoint_origin'])
})
