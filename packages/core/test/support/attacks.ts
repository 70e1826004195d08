import { cutFrom, readEntries, relink, repairHead, replaceEntries, setEntry } from './attacker.ts'
import { cut, edit, editAndRelink, flip, rewrite, sign } from './attack-shapes.ts'
import type { Attack } from './attack-shapes.ts'

/** The attack table, and what finds each first. */
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
