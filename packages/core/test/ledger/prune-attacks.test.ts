import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { SYSTEM } from '../../src/caller/caller.ts'
import { signCheckpoint, createLedgerSigner } from '../../src/ledger/format/note.ts'
import { findCut, pointAt } from '../../src/ledger/store/cut.ts'
import { newSalt } from '../../src/ledger/format/entry.ts'
import { linkEntries } from '../../src/ledger/format/link.ts'
import { decodeFrontier, rootOf } from '../../src/ledger/format/merkle.ts'
import { findHead, linkedRows } from '../../src/ledger/store/store.ts'
import { writeRows } from '../../src/db/write-rows.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { afterAttack, dropGuards, readEntries } from '../support/attacker.ts'
import type { Attacked } from '../support/attacker.ts'
import { append, decisionDraft, grow } from '../support/drafts.ts'
import { prune } from '../support/pruning.ts'

const CUT = 263

describe.each(fullDialects())('an attacker who knows of pruning, on %s', (dialect) => {
  const clock = createClock('2025-01-01T00:00:00.000Z')
  let remit: TestRemit
  let whole: string
  let pruned: string
  let rows: Awaited<ReturnType<typeof readEntries>>
  let outside: string

  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    ;[whole, pruned] = [(await remit.organization()).id, (await remit.organization()).id]
    await grow(remit, whole, 303, clock)
    await grow(remit, pruned, 303, clock)
    clock.set('2027-01-01T00:00:00.000Z')
    await grow(remit, whole, 603, clock)
    outside = (await grow(remit, pruned, 603, clock)).get(603)!
    rows = await remit.db.transaction().execute((tx) => readEntries(tx, pruned))
    await prune(remit, clock, pruned)
    await append(remit, pruned, [decisionDraft(1)])
    await dropGuards(remit.db)
  })
  afterAll(() => remit.close())

  const found = (orgId: string, attack: (tx: Attacked) => Promise<unknown>) =>
    afterAttack(remit.db, attack, (tx) => findingsIn(tx, orgId))
  let vkeys: Record<string, string>
  beforeAll(async () => {
    vkeys = {
      [whole]: (await remit.ledger.head(whole)).vkey,
      [pruned]: (await remit.ledger.head(pruned)).vkey,
    }
  })
  /** `<status> <seq> <code>` of what is found first, with the signing key pinned. */
  const findingsIn = async (tx: Attacked, orgId: string) => {
    const report = await verifyDatabase(tx, orgId, { vkeys: [vkeys[orgId]!] })
    return `${report.status} ${report.first_invalid?.seq} ${report.first_invalid?.code}`
  }

  /** Removes what is below a size and says that the ledger begins there, as pruning would. */
  async function forgeCut(tx: Attacked, org_id: string, size: number): Promise<void> {
    const point = await pointAt(tx, org_id, size, await findCut(tx, org_id))
    const { hash, recorded_at, frontier, vkey } = point
    const row = { org_id, size, hash, recorded_at, frontier, vkey: vkey ?? '' }
    await tx.deleteFrom('ledger_cut').where('org_id', '=', org_id).execute()
    await tx.insertInto('ledger_cut').values(row).execute()
    await removeBelow(tx, org_id, size)
  }

  async function removeBelow(tx: Attacked, orgId: string, size: number): Promise<void> {
    await sql`delete from ledger_entry where org_id = ${orgId} and seq < ${size}`.execute(tx)
    await sql`delete from ledger_checkpoint where org_id = ${orgId} and size < ${size}`.execute(tx)
    const idx = Math.floor(size / 256)
    await sql`delete from ledger_node where org_id = ${orgId} and level = 1 and idx < ${idx}`.execute(
      tx,
    )
  }

  /** Appends an entry as the writer does, signed by a key or, without one, not at all. */
  async function forgeEntry(
    tx: Attacked,
    orgId: string,
    kind: string,
    data: Record<string, unknown>,
    signer?: ReturnType<typeof createLedgerSigner>,
  ): Promise<void> {
    const head = (await findHead(tx, orgId))!
    const linked = linkEntries(head, [{ kind, actor: SYSTEM, data }], head.recorded_at, newSalt)
    const checkpoint = { origin: head.origin, size: linked.size, root: linked.root }
    const note = signer ? signCheckpoint(signer.forOrigin(head.origin), checkpoint) : head.note
    await writeRows(tx, linkedRows(head, linked, head.recorded_at, note, head.config_version))
  }

  /** The record that a pruning at the cut would leave. */
  async function recordOf(tx: Attacked, orgId: string): Promise<Record<string, unknown>> {
    const head = (await findHead(tx, orgId))!
    const cut = (await findCut(tx, orgId))!
    const { hash, recorded_at, vkey } = cut
    const root = rootOf(decodeFrontier(cut.size, cut.frontier).nodes)
    const { origin } = head
    const ledger_id = origin.split('/').at(-1)
    return { cut: cut.size, hash, recorded_at, root, vkey, origin, ledger_id }
  }

  test('finds nothing where nobody was', async () => {
    expect((await findCut(remit.db, pruned))?.size).toBe(CUT)
    for (const orgId of [whole, pruned]) {
      const report = await verifyDatabase(remit.db, orgId, { vkeys: [vkeys[orgId]!] })
      expect(report).toMatchObject({ status: 'ok', errors: [], anchored_by: 'signature' })
    }
    const report = await verifyDatabase(remit.db, pruned, { checkpoints: [outside] })
    expect(report).toMatchObject({ status: 'ok', anchored_by: 'external' })
  })

  test('the oldest entries are deleted', async () => {
    expect(await found(whole, (tx) => removeBelow(tx, whole, 300))).toBe('tampered 0 gap')
  })

  test('they are deleted, and a cut is forged: no entry records it', async () => {
    expect(await found(whole, (tx) => forgeCut(tx, whole, 300))).toBe('tampered 300 unrecorded_cut')
  })

  test('a pruned ledger is cut once more', async () => {
    expect(await found(pruned, (tx) => forgeCut(tx, pruned, 400))).toBe(
      'tampered 400 unrecorded_cut',
    )
  })

  test('a cut is forged with a record that nobody signed', async () => {
    const attack = async (tx: Attacked) => {
      await forgeCut(tx, whole, 513)
      await forgeEntry(tx, whole, 'ledger.pruned', await recordOf(tx, whole))
    }

    expect(await found(whole, attack)).toBe('tampered 603 unsigned_tail')
  })

  test('a cut is forged with a record that another key signed', async () => {
    const attack = async (tx: Attacked) => {
      await forgeCut(tx, whole, 513)
      const other = createLedgerSigner(generateKeyPairSync('ed25519').privateKey)
      await forgeEntry(tx, whole, 'ledger.pruned', await recordOf(tx, whole), other)
    }

    expect(await found(whole, attack)).toBe('tampered 603 checkpoint_signature')
  })

  test('the key at the cut is another, so that a rewritten ledger could be signed with it', async () => {
    const vkey = createLedgerSigner(generateKeyPairSync('ed25519').privateKey).forOrigin(
      (await remit.ledger.head(pruned)).origin,
    ).vkey
    const attack = (tx: Attacked) =>
      tx.updateTable('ledger_cut').set({ vkey }).where('org_id', '=', pruned).execute()

    // At the cut already: the checkpoint that is kept there was signed by the real one.
    expect(await found(pruned, attack)).toMatch(/^tampered 262 checkpoint_signature$/)
  })

  test('the cut is forgotten', async () => {
    const attack = (tx: Attacked) =>
      tx.deleteFrom('ledger_cut').where('org_id', '=', pruned).execute()

    expect(await found(pruned, attack)).toBe('tampered 0 gap')
  })

  test('entries are put back below the cut, true ones', async () => {
    const attack = async (tx: Attacked) => {
      await tx.deleteFrom('ledger_cut').where('org_id', '=', pruned).execute()
      for (const row of rows.slice(0, CUT))
        await tx.insertInto('ledger_entry').values(row).execute()
    }

    // The record says that they are gone; their checkpoints and nodes are not there either.
    const report = await afterAttack(remit.db, attack, (tx) => verifyDatabase(tx, pruned))
    expect(report.status).toBe('tampered')
    expect(report.errors.map(({ code }) => code)).toContain('bad_cut')
  })

  test('false entries are put below the cut, and the cut before them', async () => {
    const attack = async (tx: Attacked) => {
      const row = { ...rows[CUT - 1]!, decision: 'allow', agent_id: 'somebody' }
      await tx.insertInto('ledger_entry').values(row).execute()
      const cut = { size: CUT - 1, hash: rows[CUT - 2]!.hash }
      await tx.updateTable('ledger_cut').set(cut).where('org_id', '=', pruned).execute()
    }

    const report = await afterAttack(remit.db, attack, (tx) => verifyDatabase(tx, pruned))
    expect(report.status).toBe('tampered')
    expect(report.errors.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['bad_cut', 'unrecorded_cut']),
    )
  })

  test('entries below the cut that nobody reads are named, and mislead nobody', async () => {
    const report = await afterAttack(
      remit.db,
      (tx) =>
        tx
          .insertInto('ledger_entry')
          .values({ ...rows[7]!, kind: 'forged' })
          .execute(),
      (tx) => verifyDatabase(tx, pruned, { vkeys: [vkeys[pruned]!] }),
    )

    expect(report).toMatchObject({ status: 'ok', checked: { from_seq: CUT } })
    expect(report.not_checked).toContainEqual(
      expect.stringMatching(/^Entries below the cut that are still stored/),
    )
  })

  test('what was carried over is changed', async () => {
    const carried = await remit.ledger.list(pruned, {
      kind: 'state.carried',
      order: 'asc',
      limit: 1,
    })
    const { seq } = carried.data[0]!
    const attack = (tx: Attacked) =>
      sql`update ledger_entry set payload = replace(payload, '"plan":"enterprise"', '"plan":"team"')
        where org_id = ${pruned} and seq = ${seq}`.execute(tx)

    expect(await found(pruned, attack)).toBe(`tampered ${seq} commitment_mismatch`)
  })

  test('an inner node over the cut is changed', async () => {
    const attack = (tx: Attacked) =>
      tx
        .updateTable('ledger_node')
        .set({ hash: '0'.repeat(64) })
        .where('org_id', '=', pruned)
        .where('idx', '=', 1)
        .execute()

    expect(await found(pruned, attack)).toBe('tampered 511 node_mismatch')
  })

  test('the checkpoint at the cut is deleted', async () => {
    const attack = (tx: Attacked) =>
      tx
        .deleteFrom('ledger_checkpoint')
        .where('org_id', '=', pruned)
        .where('size', '=', CUT)
        .execute()

    expect(await found(pruned, attack)).toBe(`tampered ${CUT} checkpoint_missing`)
  })
})
