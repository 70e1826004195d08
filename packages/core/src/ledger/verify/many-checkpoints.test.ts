import { expect, test } from 'vitest'
import { buildChain, decision, decisions, rotation } from '../../../test/ledger/chain.ts'
import { check, codes } from '../../../test/ledger/check.ts'

const SIZE = 1_200
const origin = 'remit.example.com/ledger/org_acme/led_01'
const rotated = decisions(SIZE).with(1_099, rotation(origin, 'one', 'two'))
const chain = buildChain(rotated, { keys: ['one', 'two'] })
const notes = chain.notes.slice(1)

/** A note whose signature is another; its text says the same. */
const unsigned = (note: string) =>
  note.replace(/.(.{7}\n)$/, (end) => `${end.startsWith('A') ? 'B' : 'A'}${end.slice(1)}`)
const withNote = (size: number, note: string) => check(chain, { notes: notes.with(size - 1, note) })

test('of very many checkpoints every root is compared, and not every signature', () => {
  const report = check(chain, { notes })
  const forged = buildChain(rotated.with(1_149, decision(9)), { keys: ['one', 'two'] })

  expect(report).toMatchObject({ status: 'ok', checkpoints: { mismatched: 0 } })
  expect(report.not_checked.join(' ')).toMatch(/The signatures of \d+ older checkpoints/)
  expect(check(chain, { notes: notes.slice(0, 900) }).not_checked.join(' ')).not.toContain(
    'older checkpoints',
  )
  const wrong = withNote(1_190, forged.notes[1_190]!)
  expect(codes(wrong)).toEqual(['1189 checkpoint_root'])
  // The last one whose signature was looked at: the author of the other roots is unknown.
  expect(wrong.agreed_to).toBe(1_151)
})

test('any number of them may wait for a size that never comes', () => {
  const [first = ''] = notes
  const beyond = Array.from({ length: 150_000 }, (_, i) =>
    first.replace(/^1$/m, String(SIZE + 10 + i)),
  )

  // Without a key there is no signature to look at, which would take most of the time.
  const report = check(chain, { rows: [], verifiers: [], notes: beyond, origin })

  expect(report.checkpoints.mismatched).toBeGreaterThanOrEqual(150_000)
})

test('the first thousand are looked at, the head, those from outside, and one of a key that ends', () => {
  const lastOfOne = 1_101

  expect(codes(withNote(900, unsigned(notes[899]!)))).toEqual(['899 checkpoint_signature'])
  expect(codes(withNote(lastOfOne, unsigned(notes[lastOfOne - 1]!)))).toEqual(
    expect.arrayContaining([`${lastOfOne - 1} checkpoint_signature`]),
  )
  expect(withNote(1_150, unsigned(notes[1_149]!)).status).toBe('ok')
  expect(codes(check(chain, { notes, external: [unsigned(notes[1_149]!)] }))).toEqual([
    '1149 checkpoint_signature',
  ])
  const head = { ...chain.head, checkpoint: unsigned(chain.head.checkpoint) }
  expect(codes(check(chain, { notes, head }))).toEqual(
    expect.arrayContaining([`${SIZE} checkpoint_signature`]),
  )
})
