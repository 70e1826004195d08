import { describe, expect, test } from 'vitest'
import { rootOf, Tree } from '../src/tree.ts'
import { both, bytesOf, comparable } from './support/agree.ts'
import { exportOf } from './support/ledger.ts'
import type { Draft } from './support/ledger.ts'
import { testKey } from './support/vectors.ts'

const { vkey } = testKey('one')
const minute = (n: number): string => `2026-02-01T00:${`${n}`.padStart(2, '0')}:00.000Z`
const decisions = (from: number, to: number): Draft[] =>
  Array.from({ length: to - from }, (_, n) => ({
    kind: 'authorization.decided',
    at: minute(from + n),
  }))

interface Row {
  readonly hash: string
  readonly recorded_at: string
}
const rowAt = (lines: readonly string[], seq: number) => JSON.parse(lines[seq + 1]!) as Row

/** The state after the first `size` entries of an export. */
function stateAt(lines: readonly string[], size: number) {
  const nodes: Buffer[] = []
  for (let rest = size, from = 0; rest > 0;) {
    const width = 2 ** Math.floor(Math.log2(rest))
    const tree = new Tree()
    for (let seq = from; seq < from + width; seq++)
      tree.append(Buffer.from(rowAt(lines, seq).hash, 'hex'))
    nodes.push(tree.root())
    from += width
    rest -= width
  }
  const { hash, recorded_at } = rowAt(lines, size - 1)
  const frontier = nodes.map((node) => node.toString('hex')).join('')
  return { hash, recorded_at, frontier, root: rootOf(nodes).toString('hex') }
}

const CUT = 6
const before = exportOf(decisions(1, 9))
const state = stateAt(before, CUT)

/** An export of a ledger whose first entries were pruned; `says` changes what it records of that. */
function pruned(says: Readonly<Record<string, unknown>> = {}, start: object = {}): string[] {
  const { frontier, ...known } = state
  const header = JSON.parse(before[0]!) as { origin: string; ledger_id: string }
  const { origin, ledger_id } = header
  const data = { cut: CUT, ...known, origin, ledger_id, vkey, ...says }
  const all = exportOf([...decisions(1, 9), { kind: 'ledger.pruned', at: minute(10), data }])
  const { hash, recorded_at } = known
  const begin = { ...header, from_seq: CUT, start: { hash, recorded_at, frontier, vkey, ...start } }
  return [JSON.stringify(begin), ...all.slice(CUT + 1)]
}

const judged = async (lines: readonly string[], checkpoints: readonly string[] = []) => {
  const { own, core } = await both({ bytes: bytesOf(lines), vkey, checkpoints })
  expect(comparable(own)).toEqual(comparable(core))
  return own
}

describe('a ledger that was pruned', () => {
  test('is sound from its cut on, and the verdict says which entry records it', async () => {
    const verdict = await judged(pruned())

    expect(verdict).toMatchObject({
      status: 'ok',
      anchored_by: 'signature',
      checked: { from_seq: CUT },
      pruned: [{ seq: 9, cut: CUT }],
    })
    expect(verdict.not_checked).toContainEqual(
      expect.stringMatching(/they were pruned, as entry 9 records/),
    )
  })

  test.each([
    ['cut', 0],
    ['cut', 99],
    ['cut', 'six'],
    ['hash', 'a'.repeat(64)],
    ['recorded_at', minute(1)],
    ['root', 'b'.repeat(64)],
    ['vkey', testKey('two').vkey],
    ['origin', 'elsewhere.example.com/ledger/org_acme/led_01'],
    ['ledger_id', 'led_02'],
  ])('%s: another one than that of the cut is found', async (name, value) => {
    expect((await judged(pruned({ [name]: value }))).first_invalid).toEqual({
      seq: 9,
      code: 'bad_cut',
    })
  })

  test.each([
    ['hash', 'a'.repeat(64)],
    ['recorded_at', minute(59)],
    ['frontier', `${state.frontier.slice(0, -1)}f`],
    ['vkey', testKey('two').vkey],
    ['vkey', 'no key'],
  ])('an export that begins with another %s is found', async (name, value) => {
    expect((await judged(pruned({}, { [name]: value }))).status).toBe('tampered')
  })

  test('a state after a rotation names no key', async () => {
    expect((await judged(pruned({}, { vkey: undefined }))).status).toBe('ok')
  })
})

describe('an export that ends on purpose before the ledger did', () => {
  const whole = exportOf(decisions(1, 9))
  const { note } = JSON.parse(exportOf(decisions(1, 6)).at(-1)!) as { note: string }
  const end = JSON.stringify({ type: 'checkpoint', note })
  const { note: newest } = JSON.parse(whole.at(-1)!) as { note: string }
  const BEYOND = /^The roots of 1 checkpoints beyond seq 5: /
  const header = (more: object) => JSON.stringify({ ...(JSON.parse(whole[0]!) as object), ...more })
  const erased = JSON.stringify({
    ...(JSON.parse(whole[3]!) as object),
    salt: null,
    payload: null,
  })
  const part = (more: object) => [header(more), ...whole.slice(1, 7).with(2, erased), end]

  test('leaves open why a payload is missing, and whether it is the end', async () => {
    const verdict = await judged(part({ partial: true }))

    expect(verdict).toMatchObject({ status: 'ok', truncation_checked: false })
    expect(verdict.not_checked).toContainEqual(
      expect.stringMatching(/^The reason why 1 payloads are missing/),
    )
    expect(verdict.not_checked).toContainEqual(expect.stringMatching(/is a partial export/))
  })

  test('is not missed by a newer checkpoint, and the verdict says that it was not compared', async () => {
    const verdict = await judged(part({ partial: true }), [newest])

    expect(verdict).toMatchObject({ status: 'ok', checkpoints: { checked: 1, mismatched: 0 } })
    expect(verdict.not_checked).toContainEqual(expect.stringMatching(BEYOND))
  })

  test('is not signed by a newer checkpoint either', async () => {
    const shorter = JSON.parse(exportOf(decisions(1, 4)).at(-1)!) as { note: string }
    const last = JSON.stringify({ type: 'checkpoint', ...shorter })
    const lines = [...part({ partial: true }).slice(0, -1), last]

    expect(await judged(lines, [newest])).toMatchObject({
      status: 'tampered',
      first_invalid: { seq: 4, code: 'unsigned_tail' },
    })
  })

  test('one that was cut off says so of a newer checkpoint too', async () => {
    const verdict = await judged(whole.slice(0, 7), [newest])

    expect(verdict).toMatchObject({ status: 'incomplete', checkpoints: { checked: 0 } })
    expect(verdict.not_checked).toContainEqual(expect.stringMatching(BEYOND))
  })

  test.each([{}, { partial: false }, { partial: 'true' }, { partial: 1 }, { partial: null }])(
    'and %j does not',
    async (more) => {
      expect((await judged(part(more))).status).toBe('tampered')
    },
  )
})

describe('a ledger that was restored from a backup', () => {
  const lost = exportOf(decisions(1, 6))
  const { note } = JSON.parse(lost.at(-1)!) as { note: string }
  const after = (data: Readonly<Record<string, unknown>>) =>
    exportOf([
      ...decisions(1, 4),
      { kind: 'ledger.recovered', at: minute(20), data },
      ...decisions(21, 30),
    ])

  test('says itself which entries a checkpoint from elsewhere misses', async () => {
    const verdict = await judged(after({ lost: { from_seq: 4, to_seq: 5 } }), [note])

    expect(verdict).toMatchObject({
      status: 'behind_checkpoint',
      first_invalid: { seq: 4, code: 'truncated' },
      recovered: [{ seq: 4, lost: { from_seq: 4, to_seq: 5 } }],
    })
  })

  test.each([
    ['others', { lost: { from_seq: 5, to_seq: 5 } }],
    ['nothing', {}],
    ['nothing that can be read', { lost: { from_seq: '4', to_seq: 5 } }],
  ])('and is tampered with where it names %s', async (name, data) => {
    const found = await judged(after(data), [note])

    expect(found.status).toBe(name === 'others' ? 'behind_checkpoint' : 'tampered')
  })
})
