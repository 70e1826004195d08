import type { LedgerEntryRow, LedgerHeadRow } from '../../src/db/schema.ts'
import { signCheckpoint } from '../../src/ledger/checkpoint.ts'
import { commitmentOf } from '../../src/ledger/entry.ts'
import type { LedgerSigner } from '../../src/ledger/signing-key.ts'
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
  /** What the product finds first with the signing key pinned, or with a checkpoint from outside. */
  readonly first: string
  readonly status?: 'behind_checkpoint'
  readonly run: (tx: Attacked, target: Target) => Promise<unknown>
}

/** Another character of the same alphabet: base64, hexadecimal, digits and names stay themselves. */
export const flipped = (text: string, at = Math.floor(text.length / 2)): string =>
  `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`

const edit = (row: LedgerEntryRow): LedgerEntryRow => ({
  ...row,
  decision: 'allow',
  payload: row.payload!.replace('"decision":"deny"', '"decision":"allow"').replace('dec_', 'dec_9'),
})

const flip = (column: keyof LedgerEntryRow, first: string, at?: number): Attack => ({
  name: `a byte of ${column} is flipped`,
  layer: 'chain',
  first,
  run: async (tx, { orgId }) => {
    const row = (await readEntries(tx, orgId))[300]!
    await setEntry(tx, orgId, 300, { [column]: flipped(String(row[column]), at) })
  },
})

const editAndRelink = (k: number, layer: Layer, first: string): Attack => ({
  name: `entry ${k} is edited, all after it are hashed anew, head and nodes are repaired`,
  layer,
  first,
  run: async (tx, { orgId }) => {
    const rows = await readEntries(tx, orgId)
    await replaceEntries(tx, orgId, relink(rows.with(k, edit(rows[k]!)), k))
    await repairHead(tx, orgId)
  },
})

const cut = (from: number, note: 'left' | 'older', layer: Layer, first: string): Attack => ({
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
async function sign(tx: Attacked, orgId: string, signer: LedgerSigner): Promise<void> {
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
async function rewrite(tx: Attacked, orgId: string, vkey?: string): Promise<void> {
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

export const ATTACKS: readonly Attack[] = [
  flip('prev_hash', '300 broken_link'),
  flip('hash', '300 hash_mismatch'),
  flip('recorded_at', '300 hash_mismatch', '2026-11-20T08:0'.length),
  flip('kind', '300 hash_mismatch'),
  flip('commitment', '300 hash_mismatch'),
  flip('salt', '300 commitment_mismatch'),
  flip('payload', '300 commitment_mismatch'),
  {
    name: 'the time of an entry is set back',
    layer: 'chain',
    first: '300 time_decreased',
    run: (tx, { orgId }) => setEntry(tx, orgId, 300, { recorded_at: '2026-11-20T07:59:59.000Z' }),
  },
  {
    name: 'two entries change places',
    layer: 'chain',
    first: '300 broken_link',
    run: async (tx, { orgId }) => {
      const rows = await readEntries(tx, orgId)
      const swapped = rows
        .with(300, { ...rows[301]!, seq: 300 })
        .with(301, { ...rows[300]!, seq: 301 })
      await replaceEntries(tx, orgId, swapped)
    },
  },
  {
    name: 'an entry in the middle is deleted',
    layer: 'chain',
    first: '300 gap',
    run: (tx, { orgId }) =>
      tx.deleteFrom('ledger_entry').where('org_id', '=', orgId).where('seq', '=', 300).execute(),
  },
  {
    name: 'an entry in the middle is deleted and the rest renumbered',
    layer: 'chain',
    first: '300 broken_link',
    run: async (tx, { orgId }) => {
      const rows = (await readEntries(tx, orgId)).toSpliced(300, 1)
      await replaceEntries(
        tx,
        orgId,
        rows.map((row, seq) => ({ ...row, seq })),
      )
      await repairHead(tx, orgId)
    },
  },
  {
    name: 'an entry is inserted and the rest renumbered',
    layer: 'chain',
    first: '301 broken_link',
    run: async (tx, { orgId }) => {
      const rows = await readEntries(tx, orgId)
      const again = { ...edit(rows[200]!), recorded_at: rows[299]!.recorded_at }
      const forged = relink([...rows.slice(0, 300), again], 300)
      await replaceEntries(tx, orgId, [
        ...forged,
        ...rows.slice(300).map((row) => ({ ...row, seq: row.seq + 1 })),
      ])
      await repairHead(tx, orgId)
    },
  },
  {
    name: 'an entry of another organization stands in',
    layer: 'chain',
    first: '300 broken_link',
    run: async (tx, { orgId, otherId }) => {
      const foreign = (await readEntries(tx, otherId))[5]!
      await tx
        .deleteFrom('ledger_entry')
        .where('org_id', '=', orgId)
        .where('seq', '=', 300)
        .execute()
      await setEntry(tx, otherId, 5, { ...foreign, org_id: orgId, seq: 300 })
    },
  },
  {
    name: 'an old entry is replayed at the end without a link, head and nodes are repaired',
    layer: 'chain',
    first: '603 broken_link',
    run: async (tx, { orgId }) => {
      const rows = await readEntries(tx, orgId)
      await replaceEntries(tx, orgId, [
        ...rows,
        { ...rows[300]!, seq: 603, recorded_at: rows[602]!.recorded_at },
      ])
      await repairHead(tx, orgId)
    },
  },
  {
    name: 'a payload and its copies are erased in silence',
    layer: 'chain',
    first: '300 payload_missing',
    run: (tx, { orgId }) =>
      setEntry(tx, orgId, 300, {
        salt: null,
        payload: null,
        agent_id: null,
        actor_id: null,
        action: null,
        decision: null,
      }),
  },
  {
    name: 'an index copy says something else than the payload',
    layer: 'every commit',
    first: '300 copy_mismatch',
    run: (tx, { orgId }) => setEntry(tx, orgId, 300, { decision: 'allow' }),
  },
  {
    name: 'the tail is cut and the head forgotten',
    layer: 'head',
    first: '520 truncated',
    status: 'behind_checkpoint',
    run: (tx, { orgId }) => cutFrom(tx, orgId, 520),
  },
  cut(602, 'left', 'every commit', '601 head_mismatch'),
  cut(602, 'older', 'every commit', '513 unsigned_tail'),
  cut(503, 'left', 'checkpoints', '502 head_mismatch'),
  cut(503, 'older', 'checkpoints', '502 head_mismatch'),
  editAndRelink(300, 'checkpoints', '512 checkpoint_root'),
  editAndRelink(549, 'every commit', '602 checkpoint_root'),
  {
    name: 'a forged entry is properly appended, head and nodes are repaired, but not signed',
    layer: 'every commit',
    first: '603 unsigned_tail',
    run: async (tx, { orgId }) => {
      const rows = await readEntries(tx, orgId)
      const again = { ...edit(rows[200]!), recorded_at: rows[602]!.recorded_at }
      await replaceEntries(tx, orgId, relink([...rows, again], 603))
      await repairHead(tx, orgId)
    },
  },
  {
    name: 'all is rewritten from genesis with fresh hashes',
    layer: 'checkpoints',
    first: '262 checkpoint_root',
    run: (tx, { orgId }) => rewrite(tx, orgId),
  },
  {
    name: 'all is rewritten from genesis and signed with another key',
    layer: 'checkpoints',
    first: '602 untrusted_key',
    run: async (tx, { orgId, oldHead, foreignSigner }) => {
      await rewrite(tx, orgId, foreignSigner.forOrigin(oldHead.origin).vkey)
      await sign(tx, orgId, foreignSigner)
    },
  },
  {
    name: 'all is rewritten from genesis and signed with the real key',
    layer: 'external',
    first: '402 checkpoint_root',
    run: async (tx, { orgId, ownSigner }) => {
      await rewrite(tx, orgId)
      await sign(tx, orgId, ownSigner)
    },
  },
  {
    name: 'an older signed state is put back',
    layer: 'external',
    first: '303 truncated',
    status: 'behind_checkpoint',
    run: async (tx, { orgId, oldHead }) => {
      await cutFrom(tx, orgId, oldHead.size)
      await tx
        .deleteFrom('ledger_checkpoint')
        .where('org_id', '=', orgId)
        .where('size', '>', oldHead.size)
        .execute()
      await repairHead(tx, orgId)
      await tx.updateTable('ledger_head').set(oldHead).where('org_id', '=', orgId).execute()
    },
  },
  {
    name: 'everything is deleted',
    layer: 'chain',
    first: '0 bad_genesis',
    run: async (tx, { orgId }) => {
      for (const table of [
        'ledger_entry',
        'ledger_head',
        'ledger_checkpoint',
        'ledger_node',
      ] as const) {
        await tx.deleteFrom(table).where('org_id', '=', orgId).execute()
      }
    },
  },
]
