import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commitmentOf } from '../../src/ledger/format/entry.ts'
import { parseVerifierKey } from '../../src/ledger/format/note.ts'
import { verifyTlogProof } from '../../src/ledger/format/tlog-proof.ts'
import { Ledger } from '../../src/ledger/read/ledger.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { verifyExport } from '../../src/ledger/verify/export.ts'
import type { ExportHeader } from '../../src/ledger/read/export-entries.ts'
import { createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAttack, dropGuards, setEntry } from '../support/attacker.ts'
import type { Attacked } from '../support/attacker.ts'
import { append, decisionDraft, grow } from '../support/drafts.ts'
import { prune } from '../support/pruning.ts'

interface Subject {
  readonly orgId: string
  /** Position of the entry that records the origin. */
  readonly seq: number
  readonly origin: string
  readonly vkey: string
  readonly note: string
}

describe.each(fullDialects())('a changed origin on %s', (dialect) => {
  const clock = createClock('2025-01-01T00:00:00.000Z')
  let remit: TestRemit
  const ledgers = new Map<string, Subject>()
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    await dropGuards(remit.db)
    for (const name of ['whole', 'pruned']) {
      clock.set('2025-01-01T00:00:00.000Z')
      const { id: orgId } = await remit.organization()
      await grow(remit, orgId, 40, clock, 60_000)
      clock.set('2027-01-01T00:00:00.000Z')
      await grow(remit, orgId, 50, clock)
      const pruned = name === 'pruned' ? await prune(remit, clock, orgId) : null
      const { origin, vkey, note } = await remit.ledger.head(orgId)
      ledgers.set(name, { orgId, seq: pruned?.seq ?? 0, origin, vkey, note })
    }
  })
  afterAll(() => remit.close())

  const setOrigin = (tx: Attacked, orgId: string) =>
    tx
      .updateTable('ledger_head')
      .set({ origin: 'elsewhere.test/ledger/org_x/led_x' })
      .where('org_id', '=', orgId)
      .execute()

  test.each(['whole', 'pruned'])(
    'in the head of a %s ledger changes neither checkpoints, exports nor proofs',
    async (name) => {
      const { orgId, origin, vkey, note } = ledgers.get(name)!
      await afterAttack(
        remit.db,
        (tx) => setOrigin(tx, orgId),
        async (tx) => {
          const ledger = new Ledger(tx)
          const found = await verifyDatabase(tx, orgId, { vkeys: [vkey], checkpoints: [note] })
          expect(found).toMatchObject({ anchored_by: 'external', checkpoints: { mismatched: 0 } })
          expect(found.errors).toMatchObject([{ code: 'head_mismatch', detail: 'origin' }])

          let header: ExportHeader | null = null
          let text = ''
          for await (const part of await ledger.export(orgId)) text += part
          const exported = await verifyExport(text.trimEnd().split('\n'), {
            vkey,
            checkpoints: [note],
            onHeader: (first) => (header = first),
          })
          expect(exported).toMatchObject({ status: 'ok', anchored_by: 'external' })
          expect(header).toMatchObject({ origin })

          const { hash } = await ledger.entry(orgId, 45)
          const proof = await ledger.proof(orgId, 45)
          const claim = { text: proof, leafHash: hash, verifier: parseVerifierKey(vkey), origin }
          expect(verifyTlogProof(claim)).toMatchObject({ ok: true })
        },
      )
    },
  )

  test('in the head is named, with that of its key, to who appends or prunes', async () => {
    clock.set('2025-01-01T00:00:00.000Z')
    const { id: orgId } = await remit.organization()
    await grow(remit, orgId, 40, clock, 60_000)
    clock.set('2027-01-01T00:00:00.000Z')
    await grow(remit, orgId, 50, clock)
    const { origin } = await remit.ledger.head(orgId)
    await remit.db.transaction().execute((tx) => setOrigin(tx, orgId))

    for (const work of [
      () => append(remit, orgId, [decisionDraft(1)]),
      () => prune(remit, clock, orgId),
    ])
      await expect(work()).rejects.toMatchObject({
        code: 'ledger_unavailable',
        message: `The ledger head has the origin elsewhere.test/ledger/org_x/led_x instead of ${origin}; verify the ledger`,
      })
  })

  test.each(['whole', 'pruned'])(
    'in the record of a %s ledger is not believed unless the entry matches its hash',
    async (name) => {
      const { orgId, seq, origin } = ledgers.get(name)!
      expect(await remit.ledger.recordedOrigin(orgId)).toBe(origin)

      const { payload: text } = await remit.ledger.entry(orgId, seq)
      const payload = text!.replace('"origin":"remit.test', '"origin":"remit.best')
      const salt = '0'.repeat(32)
      for (const change of [
        { payload },
        { payload, salt, commitment: commitmentOf(salt, payload) },
        { payload: null, salt: null },
      ]) {
        const found = await afterAttack(
          remit.db,
          (tx) => setEntry(tx, orgId, seq, change),
          (tx) => new Ledger(tx).recordedOrigin(orgId),
        )
        expect(found).toBeNull()
      }
    },
  )
})
