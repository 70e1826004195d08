import type { LedgerEntryRow, LedgerHeadRow } from '../../src/db/schema.ts'
import { signCheckpoint } from '../../src/ledger/format/note.ts'
import { commitmentOf } from '../../src/ledger/format/entry.ts'
import type { LedgerSigner } from '../../src/ledger/format/note.ts'
import { cutFrom, readEntries, relink, repairHead, replaceEntries, setEntry } from './attacker.ts'
import type { Attacked } from './attacker.ts'
import type { Layer } from './layers.ts'

/** The ledger under attack: 603 entries, checkpoints kept at 263 and 513. */
export interface Target {
  readonly orgId: string
  readonly otherId: string
  /** The head as it was with 303 entries. */
  readonly oldHead: LedgerHeadRow
  readonly ownSigner: LedgerSigner
  readonly foreignSigner: LedgerSigner
}

export interface Attack {
  readonly name: string
  /** The first layer that finds it. All later ones must as well. */
  readonly layer: Layer
  /** The first error with a pinned signing key or an external checkpoint. */
  readonly first: string
  readonly status?: 'behind_checkpoint'
  readonly run: (tx: Attacked, target: Target) => Promise<unknown>
}

/** Another character of the same alphabet: base64, hexadecimal, digits and names stay themselves. */
export const flipped = (text: string, at = Math.floor(text.length / 2)): string =>
  `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`

export const edit = (row: LedgerEntryRow): LedgerEntryRow => ({
  ...row,
  decision: 'allow',
  payload: row.payload!.replace('"decision":"deny"', '"decision":"allow"').replace('dec_', 'dec_9'),
})

export const flip = (column: keyof LedgerEntryRow, first: string, at?: number): Attack => ({
  name: `a byte of ${column} is flipped`,
  layer: 'chain',
  first,
  run: async (tx, { orgId }) => {
    const row = (await readEntries(tx, orgId))[300]!
    await setEntry(tx, orgId, 300, { [column]: flipped(String(row[column]), at) })
  },
})

export const editAndRelink = (k: number, layer: Layer, first: string): Attack => ({
  name: `entry ${k} is edited, all after it are hashed anew, head and nodes are repaired`,
  layer,
  first,
  run: async (tx, { orgId }) => {
    const rows = await readEntries(tx, orgId)
    await replaceEntries(tx, orgId, relink(rows.with(k, edit(rows[k]!)), k))
    await repairHead(tx, orgId)
  },
})

export const cut = (from: number, note: 'left' | 'older', layer: Layer, first: string): Attack => ({
  name: `the tail from ${from} is cut, head and nodes are repaired, the head's note is ${note}`,
  layer,
  first,
  run: async (tx, { orgId }) => {
    await cutFrom(tx, orgId, from)
    await repairHead(tx, orgId)
    if (note === 'left') return
    const kept = tx.selectFrom('ledger_checkpoint').select('note').where('org_id', '=', orgId)
    const older = await kept
      .where('size', '<=', from)
      .orderBy('size', 'desc')
      .executeTakeFirstOrThrow()
    await tx.updateTable('ledger_head').set(older).where('org_id', '=', orgId).execute()
  },
})

/** Signs everything anew as a holder of some key can: each kept checkpoint and the head. */
export async function sign(tx: Attacked, orgId: string, signer: LedgerSigner): Promise<void> {
  const { origin } = await tx
    .selectFrom('ledger_head')
    .select('origin')
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  const notes = signer.forOrigin(origin)
  const whole = await readEntries(tx, orgId)
  for (const size of [263, 513]) {
    await replaceEntries(tx, orgId, whole.slice(0, size))
    const note = signCheckpoint(notes, { origin, ...(await repairHead(tx, orgId)) })
    await tx
      .updateTable('ledger_checkpoint')
      .set({ note })
      .where('org_id', '=', orgId)
      .where('size', '=', size)
      .execute()
  }
  await replaceEntries(tx, orgId, whole)
  const note = signCheckpoint(notes, { origin, ...(await repairHead(tx, orgId)) })
  await tx
    .updateTable('ledger_head')
    .set({ note, vkey: notes.vkey })
    .where('org_id', '=', orgId)
    .execute()
}

/** Rewrites history from genesis on; `vkey` is then the key that genesis names. */
export async function rewrite(tx: Attacked, orgId: string, vkey?: string): Promise<void> {
  const head = await tx
    .selectFrom('ledger_head')
    .selectAll()
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  const rows = (await readEntries(tx, orgId)).map(edit)
  const genesis = {
    ...rows[0]!,
    payload: rows[0]!.payload!.replace(head.vkey, vkey ?? head.vkey),
    decision: null,
  }
  const commitment = commitmentOf(genesis.salt!, genesis.payload)
  const others = rows.slice(1).map((row, i) => (i < 2 ? { ...row, decision: null } : row))
  await replaceEntries(tx, orgId, relink([{ ...genesis, commitment }, ...others], 0))
  await repairHead(tx, orgId)
}
