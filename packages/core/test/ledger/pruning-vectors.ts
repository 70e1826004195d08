import { formatHeaderLine } from '../../src/ledger/verify/export.ts'
import { decodeFrontier, rootOf } from '../../src/ledger/format/merkle.ts'
import { buildChain, decision, decisions, exportOf, testSigner } from './chain.ts'
import type { Draft, TestChain } from './chain.ts'
import type { ExportVector } from './export-vectors.ts'

const CUT = 4

/** The state of a chain at a size, as an export that begins there names it. */
export const startOf = ({ rows, frontiers }: TestChain, size: number) => ({
  hash: rows[size - 1]!.hash,
  recorded_at: rows[size - 1]!.recorded_at,
  frontier: frontiers[size]!,
})

/** The record of a pruning of a chain's first entries, with some members changed. */
function pruningOf(chain: TestChain, cut: number, change: Record<string, unknown> = {}): Draft {
  const { hash, recorded_at, frontier } = startOf(chain, cut)
  const root = rootOf(decodeFrontier(cut, frontier).nodes)
  const { vkey, origin, ledger_id } = chain
  const data = { cut, hash, recorded_at, root, vkey, origin, ledger_id, ...change }
  return { kind: 'ledger.pruned', payload: { data } }
}

const recovery = (from_seq: number, to_seq: number, vkey?: string): Draft => ({
  kind: 'ledger.recovered',
  payload: { data: { lost: { from_seq, to_seq }, reason: 'disk failed', ...(vkey && { vkey }) } },
})

/** Five decisions and the record of a pruning that took the first entries. */
function prunedChain(change: Record<string, unknown> = {}): TestChain {
  const drafts = decisions(5)
  return buildChain([...drafts, pruningOf(buildChain(drafts), CUT, change), decision(6)])
}

/** The remaining ledger, with its initial state. */
function exportAfterCut(chain: TestChain, change: Record<string, string> = {}): string[] {
  const start = { ...startOf(chain, CUT), vkey: chain.vkey, ...change }
  const header = formatHeaderLine({ ...chain, from_seq: CUT, start })
  return [header, ...exportOf(chain).slice(CUT + 1)]
}

/** Exports of pruned and of restored ledgers. */
export function pruningVectors(): ExportVector[] {
  const pruned = prunedChain()
  const rows = pruned.rows.map((row) =>
    row.seq === 2 ? { ...row, salt: null, payload: null } : row,
  )
  const prefix = exportOf(pruned, rows.slice(0, CUT), pruned.notes[CUT])
  const partial = [formatHeaderLine({ ...pruned, from_seq: 0, partial: true }), ...prefix.slice(1)]
  const other = buildChain([...decisions(3), decision(9), decision(9), decision(9)])
  const restored = buildChain([...decisions(3), recovery(4, 5), decision(7)])
  const { vkey } = pruned
  const two = testSigner(pruned.origin, 'two').vkey

  const signedBy = (key: string, note: string) =>
    testSigner(pruned.origin, key).sign(note.slice(0, note.indexOf('\n\n') + 1))

  const vector = (
    name: string,
    lines: readonly string[],
    status: string,
    anchored_by: string,
    first?: { seq: number; code: string },
    checkpoints: readonly string[] = [],
  ): ExportVector => ({
    name,
    vkey,
    checkpoints,
    lines: lines.map((line) => line.replace(/\n$/, '')),
    status,
    anchored_by,
    first_invalid: first ?? null,
  })
  const changed = (change: Record<string, unknown>) => exportAfterCut(prunedChain(change))
  const badCut = { seq: 6, code: 'bad_cut' }

  return [
    vector('pruned, from the cut that an entry records', exportAfterCut(pruned), 'ok', 'signature'),
    vector(
      'pruned, the record names another root',
      changed({ root: '0'.repeat(64) }),
      'tampered',
      'signature',
      badCut,
    ),
    vector(
      'pruned, the record names another hash',
      changed({ hash: '0'.repeat(64) }),
      'tampered',
      'signature',
      badCut,
    ),
    vector(
      'pruned, the record names another ledger',
      changed({ ledger_id: 'led_02' }),
      'tampered',
      'signature',
      badCut,
    ),
    vector(
      'pruned, the record names a cut above itself',
      changed({ cut: 7 }),
      'tampered',
      'signature',
      badCut,
    ),
    vector(
      'pruned, another key at the cut',
      exportAfterCut(pruned, { vkey: two }),
      'tampered',
      'none',
      badCut,
    ),
    vector(
      'pruned, another time at the cut',
      exportAfterCut(pruned, { recorded_at: '2026-11-20T08:00:00.000Z' }),
      'tampered',
      'signature',
      badCut,
    ),
    vector(
      'pruned, another state at the cut',
      exportAfterCut(pruned, { hash: '0'.repeat(64) }),
      'tampered',
      'signature',
      { seq: 4, code: 'broken_link' },
    ),
    vector('what was pruned, a payload of it erased later', partial, 'ok', 'signature'),
    vector('the same, not said to be a part', prefix, 'tampered', 'signature', {
      seq: 2,
      code: 'payload_missing',
    }),
    vector('what was pruned, with a checkpoint of later', partial, 'ok', 'signature', undefined, [
      pruned.notes[CUT + 1]!,
    ]),
    vector('a part without its checkpoint', partial.slice(0, -1), 'incomplete', 'none'),
    vector(
      'restored from a backup, with a checkpoint of what was lost',
      exportOf(restored),
      'behind_checkpoint',
      'signature',
      { seq: 4, code: 'truncated' },
      [other.notes[6]!],
    ),
    vector(
      'restored from a backup, with a checkpoint of what was lost by the key that it names',
      exportOf(buildChain([...decisions(3), recovery(4, 5, two), decision(7)])),
      'behind_checkpoint',
      'signature',
      { seq: 4, code: 'truncated' },
      [signedBy('two', other.notes[6]!)],
    ),
    vector(
      'restored from a backup, with a checkpoint of what was lost by another key',
      exportOf(restored),
      'tampered',
      'signature',
      { seq: 5, code: 'checkpoint_signature' },
      [signedBy('two', other.notes[6]!)],
    ),
    vector(
      'restored from a backup, with a checkpoint of before',
      exportOf(restored),
      'ok',
      'external',
      undefined,
      [other.notes[4]!],
    ),
    vector(
      'restored from a backup, with a checkpoint of another history',
      exportOf(restored),
      'tampered',
      'signature',
      { seq: 3, code: 'checkpoint_root' },
      [buildChain([decision(8), decision(8), decision(8)]).notes[4]!],
    ),
  ]
}
