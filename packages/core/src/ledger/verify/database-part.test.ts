import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { afterAttack, dropGuards, setEntry } from '../../../test/support/attacker.ts'
import { append, decisionDraft, grow } from '../../../test/support/drafts.ts'
import { prune } from '../../../test/support/pruning.ts'
import { eraseEntries } from '../../orgs/erase-entries.ts'
import { rotateLedgerKey } from '../../orgs/rotate-ledger-key.ts'
import { createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { verifyDatabase } from './database.ts'

const SIZE = 603

describe.each(fullDialects())('verifying a part of a ledger on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  let orgId: string
  let vkey: string
  let notes: Map<number, string>
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    orgId = (await remit.organization()).id
    notes = await grow(remit, orgId, SIZE, clock, 7_000)
    vkey = (await remit.ledger.head(orgId)).vkey
    await dropGuards(remit.db)
  })
  afterAll(() => remit.close())

  const verify = (from_seq?: number, to_seq?: number) =>
    verifyDatabase(remit.db, orgId, {
      vkeys: [vkey],
      ...(from_seq !== undefined && { from_seq }),
      ...(to_seq !== undefined && { to_seq }),
    })

  test('looks at what was asked for, and says what it left out', async () => {
    const report = await verify(100, 399)

    expect(report).toMatchObject({
      status: 'ok',
      checked: { from_seq: 100, to_seq: 399, entries: 300 },
      head: { seq: 399 },
      anchored_by: 'signature',
      truncation_checked: false,
      errors: [],
    })
    expect(report.checkpoints.checked).toBeGreaterThan(2)
    expect(report.not_checked).toEqual(
      expect.arrayContaining([
        'The entries before seq 100: the state at that point was assumed to be correct.',
        'Entries after seq 399: they were not requested.',
      ]),
    )
  })

  test('up to the end, its root is that of the whole', async () => {
    const whole = await verify()
    const part = await verify(512)

    expect(part).toMatchObject({ status: 'ok', root: whole.root })
    expect(await verify(0, SIZE + 1_000)).toEqual(whole)
  })

  test('every part of a sound ledger is sound', async () => {
    const parts = fc.tuple(fc.nat(SIZE - 1), fc.nat(SIZE - 1))
    await fc.assert(
      fc.asyncProperty(parts, async ([one, other]) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)]
        const { status, errors } = await verify(from, to)
        expect({ status, errors }).toEqual({ status: 'ok', errors: [] })
      }),
      { numRuns: 40, seed: 11 },
    )
  })

  test('a change inside is found at its place, one outside is not', async () => {
    const found = (from: number, to: number) =>
      afterAttack(
        remit.db,
        (tx) => setEntry(tx, orgId, 300, { decision: 'x' }),
        async (tx) => {
          const report = await verifyDatabase(tx, orgId, { from_seq: from, to_seq: to })
          return report.first_invalid
        },
      )

    expect(await found(290, 310)).toEqual({ seq: 300, code: 'copy_mismatch' })
    expect(await found(301, 310)).toBeNull()
    expect(await found(0, 299)).toBeNull()
  })

  test('a part that does not continue what is before it is found', async () => {
    const report = await afterAttack(
      remit.db,
      (tx) => setEntry(tx, orgId, 299, { hash: '0'.repeat(64) }),
      (tx) => verifyDatabase(tx, orgId, { from_seq: 300, to_seq: 400, vkeys: [vkey] }),
    )

    expect(report).toMatchObject({
      status: 'tampered',
      first_invalid: { seq: 300, code: 'broken_link' },
    })
  })

  test('where the state before is gone, what can be linked is, and no root is compared', async () => {
    const report = await afterAttack(
      remit.db,
      (tx) =>
        tx.deleteFrom('ledger_entry').where('org_id', '=', orgId).where('seq', '=', 299).execute(),
      (tx) => verifyDatabase(tx, orgId, { from_seq: 300, to_seq: 400, vkeys: [vkey] }),
    )

    expect(report).toMatchObject({ status: 'ok', root: null, anchored_by: 'none' })
    expect(report.not_checked).toContainEqual(
      expect.stringMatching(/^The roots of \d+ checkpoints/),
    )
  })

  test('a checkpoint from outside counts where the part reaches it', async () => {
    const at = (from_seq: number, to_seq: number) =>
      verifyDatabase(remit.db, orgId, { from_seq, to_seq, checkpoints: [notes.get(403)!] })

    expect(await at(200, 500)).toMatchObject({ status: 'ok', anchored_by: 'external' })
    const below = await at(200, 400)
    expect(below).toMatchObject({ status: 'ok', anchored_by: 'none' })
    expect(below.not_checked).toContainEqual(
      expect.stringMatching(/^The roots of 1 checkpoints beyond seq 400/),
    )
    expect(await at(450, 500)).toMatchObject({ status: 'ok', anchored_by: 'none' })
  })

  test('a beginning beyond the end is refused', async () => {
    await expect(verify(SIZE)).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(verify(5, 4)).rejects.toThrow(/from_seq: must not be greater than to_seq/)
  })

  test('a payload that is gone may be explained after the part', async () => {
    const { id } = await remit.organization()
    await grow(remit, id, 33, clock)
    await eraseEntries(remit, id, { seqs: [10], reason: 'asked for' })

    const early = await verifyDatabase(remit.db, id, { to_seq: 20 })
    const whole = await verifyDatabase(remit.db, id)

    expect(early).toMatchObject({ status: 'ok', unexplained: 1, redacted: 0 })
    expect(early.not_checked).toContainEqual(
      expect.stringMatching(/^The reason why 1 payloads are missing/),
    )
    expect(whole).toMatchObject({ status: 'ok', unexplained: 0, redacted: 1 })
  })

  test('knows the key that was in force where it begins', async () => {
    const { id } = await remit.organization()
    await grow(remit, id, 33, clock)
    const { privateKey } = generateKeyPairSync('ed25519')
    const deps = { db: remit.db, clock, oldKey: remit.signingKey, newKey: privateKey }
    const { seq, new_vkey } = await rotateLedgerKey(deps, id)
    const other = await createTestRemit({ url: remit.url, signingKey: privateKey, clock })
    await grow(other, id, 63, clock)
    await other.close()

    for (const from_seq of [20, seq - 1, seq, seq + 1, seq + 2]) {
      const report = await verifyDatabase(remit.db, id, { from_seq, vkeys: [new_vkey] })
      expect(report, `${from_seq}`).toMatchObject({ status: 'ok', errors: [] })
      expect(report.anchored_by).toBe('signature')
    }
    expect(await verifyDatabase(remit.db, id, { from_seq: seq + 1 })).toMatchObject({
      status: 'ok',
    })
  })

  test('a part below the cut begins at the cut', async () => {
    const { id } = await remit.organization()
    await grow(remit, id, 33, clock, 30_000)
    clock.advance(401 * 24 * 60 * 60 * 1000)
    await append(remit, id, [decisionDraft(1)])
    const cut = (await prune(remit, clock, id))!.plan.cut

    const report = await verifyDatabase(remit.db, id, { from_seq: 5 })

    expect(report).toMatchObject({ status: 'ok', checked: { from_seq: cut } })
    expect(await verifyDatabase(remit.db, id, { from_seq: cut + 1 })).toMatchObject({
      status: 'ok',
      checked: { from_seq: cut + 1 },
    })
  })
})
