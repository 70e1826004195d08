import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Failure } from '../../src/base/errors.ts'
import { hashFromBase64 } from '../../src/ledger/format/note.ts'
import type { CarriedEntry } from '../../src/ledger/format/carried.ts'
import { commitmentOf, entryHash, headerOf, payloadText } from '../../src/ledger/format/entry.ts'
import { verifyExport } from '../../src/ledger/verify/export.ts'
import { verifyConsistency, verifyInclusion } from '../../src/ledger/format/proof.ts'
import { findHead, readEntries } from '../../src/ledger/store/store.ts'
import { parseTlogProof } from '../../src/ledger/format/tlog-proof.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { createKey, setSettings } from '../../src/orgs/administration.ts'
import { eraseEntries } from '../../src/orgs/erase-entries.ts'
import { fileArchive, planPruning } from '../../src/orgs/prune/index.ts'
import type { PruneOptions, Pruned } from '../../src/orgs/prune/index.ts'
import { createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { append, decisionDraft, grow } from '../support/drafts.ts'
import { prune as pruneOf } from '../support/pruning.ts'

const DAY = 24 * 60 * 60 * 1000

const folder = mkdtempSync(join(tmpdir(), 'remit-prune-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0

describe.each(fullDialects())('pruning on %s', (dialect) => {
  const clock = createClock('2025-01-01T00:00:00.000Z')
  let remit: TestRemit
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
  })
  afterAll(() => remit.close())

  const file = () => join(folder, `${dialect}-${++files}.ndjson`)
  const prune = (orgId: string, options: Partial<PruneOptions> & { path?: string } = {}) =>
    pruneOf(remit, clock, orgId, { archive: fileArchive(options.path ?? file()), ...options })
  const vkeyOf = async (orgId: string) => (await remit.ledger.head(orgId)).vkey
  const lines = async (orgId: string, afterSeq?: number) => {
    let text = ''
    for await (const part of await remit.ledger.export(orgId, { afterSeq })) text += part
    return text.trimEnd().split('\n')
  }

  /** A ledger of 700 entries in the first hours, some of them administrative, and 300 two years later. */
  async function makeLedger(): Promise<{ orgId: string; notes: Map<number, string> }> {
    clock.set('2025-01-01T00:00:00.000Z')
    const { id: orgId } = await remit.organization()
    const notes = await grow(remit, orgId, 300, clock, 60_000)
    await createKey(remit.writer, orgId, { role: 'read', name: 'early' })
    for (const [size, note] of await grow(remit, orgId, 700, clock, 60_000)) notes.set(size, note)
    clock.set('2027-01-01T00:00:00.000Z')
    for (const [size, note] of await grow(remit, orgId, 1_000, clock, 60_000)) notes.set(size, note)
    return { orgId, notes }
  }

  describe('of what is old enough', () => {
    let orgId: string
    let notes: Map<number, string>
    let pruned: Pruned
    let path: string
    let before: Awaited<ReturnType<typeof readEntries>>
    beforeAll(async () => {
      ;({ orgId, notes } = await makeLedger())
      before = await readEntries(remit.db, orgId, 0, 1_000)
      path = file()
      pruned = (await prune(orgId, { path, person: 'ada@example.org' }))!
    })

    test('cuts at a kept checkpoint below all that must stay, and records it', async () => {
      const head = (await findHead(remit.db, orgId))!
      const { plan, seq } = pruned
      const entry = await remit.ledger.entry(orgId, seq)

      expect(plan).toMatchObject({ from_seq: 0, cut: 700, short: false, warnings: [] })
      expect(seq).toBe(head.size - 1)
      expect(entry).toMatchObject({ kind: 'ledger.pruned', actor: { type: 'system', id: 'remit' } })
      expect(entry.data).toEqual({
        cut: 700,
        hash: before[699]!.hash,
        recorded_at: before[699]!.recorded_at,
        root: expect.stringMatching(/^[0-9a-f]{64}$/),
        vkey: head.vkey,
        origin: head.origin,
        ledger_id: head.origin.split('/').at(-1),
        from_seq: 0,
        entries: 700,
        cutoff: '2025-11-27T00:30:00.000Z',
        pruned_at: entry.recorded_at,
        retention_days: 400,
        short: false,
        export_sha256: pruned.export_sha256,
        redacted: 0,
        carried: 3,
        earlier: [],
        reason: 'retention',
        person: 'ada@example.org',
      })
      const { n } = await remit.db
        .selectFrom('ledger_entry')
        .select((one) => one.fn.countAll<number>().as('n'))
        .where('org_id', '=', orgId)
        .where('seq', '<', 700)
        .executeTakeFirstOrThrow()
      expect(n).toBe(0)
    })

    test('the ledger verifies from the cut on, deeply, against the pinned key and old receipts', async () => {
      const report = await verifyDatabase(remit.db, orgId, {
        vkeys: [await vkeyOf(orgId)],
        checkpoints: [notes.get(800)!],
        deep: true,
      })

      expect(report).toMatchObject({
        status: 'ok',
        errors: [],
        checked: { from_seq: 700 },
        anchored_by: 'external',
        truncation_checked: false,
        pruned: [{ seq: pruned.seq, cut: 700 }],
      })
      expect(report.not_checked).toContainEqual(
        expect.stringMatching(
          /^The entries before seq 700: they were pruned, as entry \d+ records/,
        ),
      )
    })

    test('a checkpoint from before the cut is not taken for a mismatch', async () => {
      const report = await verifyDatabase(remit.db, orgId, { checkpoints: [notes.get(501)!] })

      expect(report).toMatchObject({ status: 'ok', anchored_by: 'none' })
      expect(report.not_checked).toContainEqual(
        expect.stringMatching(/^The roots of 1 checkpoints/),
      )
    })

    test('the file holds what went, to the byte, and verifies alone', async () => {
      const text = readFileSync(path, 'utf8')
      const report = await verifyExport(text.trimEnd().split('\n'), {
        vkey: await vkeyOf(orgId),
        deep: true,
      })

      expect(report).toMatchObject({
        status: 'ok',
        checked: { from_seq: 0, to_seq: 699, entries: 700 },
        anchored_by: 'signature',
      })
      const entry = (await remit.ledger.entry(orgId, pruned.seq)).data
      expect(entry).toMatchObject({ root: report.root, hash: report.head.hash })
    })

    test('the export begins at the cut, verifies, and continues the file', async () => {
      const rest = await lines(orgId)
      const report = await verifyExport(rest, { vkey: await vkeyOf(orgId) })
      const whole = [
        ...readFileSync(path, 'utf8').trimEnd().split('\n').slice(0, -1),
        ...rest.slice(1),
      ]
      const header = JSON.parse(rest[0]!) as { start: { hash: string; vkey: string } }

      expect(report).toMatchObject({ status: 'ok', checked: { from_seq: 700 }, errors: [] })
      expect(header.start).toMatchObject({ hash: before[699]!.hash, vkey: await vkeyOf(orgId) })
      expect(await verifyExport(whole, { vkey: await vkeyOf(orgId) })).toMatchObject({
        status: 'ok',
        checked: { from_seq: 0 },
      })
    })

    test('a reader who resumes below the cut is told, and one above it goes on', async () => {
      await expect(lines(orgId, 600)).rejects.toMatchObject({ code: 'ledger_pruned' })
      expect((await verifyExport(await lines(orgId, 899))).checked).toMatchObject({ from_seq: 900 })
    })

    test('entries below the cut are gone, and lists begin at it', async () => {
      const gone = () => remit.ledger.entry(orgId, 699)
      const list = await remit.ledger.list(orgId, { order: 'asc', limit: 2, after_seq: 5 })
      const early = await remit.ledger.list(orgId, {
        order: 'desc',
        limit: 5,
        to: '2026-01-01T00:00:00.000Z',
      })

      await expect(gone()).rejects.toMatchObject({ code: 'ledger_pruned', status: 410 })
      await expect(gone()).rejects.toThrow(/starts at 700/)
      expect(list.data.map(({ seq }) => seq)).toEqual([700, 701])
      expect(early).toMatchObject({ data: [], next_cursor: null })
      await expect(remit.ledger.entry(orgId, 5_000)).rejects.toMatchObject({
        code: 'ledger_entry_not_found',
      })
    })

    test('proofs of every kind of remaining entry, and consistency from the cut on, are as before', async () => {
      const head = await remit.ledger.head(orgId)
      const size = head.size
      const root = (await verifyDatabase(remit.db, orgId)).root!
      for (const seq of [700, 701, 767, 768, 895, 999, size - 1]) {
        const { hash } = await remit.ledger.entry(orgId, seq)
        const { proof } = parseTlogProof(await remit.ledger.proof(orgId, seq))
        expect(verifyInclusion({ index: seq, size, leafHash: hash, root, proof }), `${seq}`).toBe(
          true,
        )
      }
      for (const from of [700, 703, 768, 800, size]) {
        const found = await remit.ledger.consistency(orgId, from, size)
        const proof = found.proof.map((text) => hashFromBase64(text)!)
        const claim = { from, to: size, fromRoot: found.from_root, toRoot: found.to_root, proof }
        expect(found.to_root).toBe(root)
        expect(verifyConsistency(claim), `${from}`).toBe(true)
      }
    })

    test('what needs the pruned part is refused and says why', async () => {
      const { size } = await remit.ledger.head(orgId)

      await expect(remit.ledger.consistency(orgId, 640, size)).rejects.toMatchObject({
        code: 'ledger_pruned',
      })
      await expect(remit.ledger.proof(orgId, 12)).rejects.toMatchObject({ code: 'ledger_pruned' })
      expect(await remit.ledger.consistency(orgId, 0, size)).toMatchObject({ proof: [] })
    })

    test('administrative entries are carried over whole: their hashes come out again', async () => {
      const { data } = await remit.ledger.list(orgId, {
        kind: 'state.carried',
        order: 'asc',
        limit: 100,
      })
      const carried = data.map((entry) => entry.data?.['entry'] as CarriedEntry)

      expect(carried.map((entry) => [entry.seq, entry.kind])).toEqual([
        [1, 'organization.created'],
        [2, 'key.created'],
        [300, 'key.created'],
      ])
      for (const entry of carried) {
        const { seq, recorded_at, kind, prev_hash, salt, payload } = entry
        const commitment = commitmentOf(salt, payloadText(payload))
        const header = headerOf({ org_id: orgId, seq, prev_hash, recorded_at, kind, commitment })
        expect(entryHash(header)).toBe(before[seq]!.hash)
        expect(entry.hash).toBe(before[seq]!.hash)
      }
    })

    test('nothing more goes at once, and writing goes on', async () => {
      expect(await prune(orgId)).toBeNull()
      clock.advance(60_000)
      await append(remit, orgId, [decisionDraft(1)])
      expect((await verifyDatabase(remit.db, orgId)).status).toBe('ok')
    })

    test('a second pruning names the first, and carries no entry twice', async () => {
      clock.set('2029-01-01T00:00:00.000Z')
      await grow(remit, orgId, 1_100, clock, 60_000)
      const again = (await prune(orgId))!
      const { data } = await remit.ledger.list(orgId, {
        kind: 'state.carried',
        order: 'asc',
        limit: 9,
      })
      const entry = await remit.ledger.entry(orgId, again.seq)
      const report = await verifyDatabase(remit.db, orgId, {
        vkeys: [await vkeyOf(orgId)],
        deep: true,
      })

      // The record of the first one goes too.
      expect(again.plan.from_seq).toBe(700)
      expect(again.plan.cut).toBe(pruned.seq + 2)
      expect(entry.data).toMatchObject({
        carried: 3,
        earlier: [{ seq: pruned.seq, cut: 700, cutoff: pruned.plan.cutoff }],
      })
      expect(data.map((one) => one.data)).toMatchObject(
        [1, 2, 300].map((seq) => ({ entry: { seq } })),
      )
      expect(report).toMatchObject({ status: 'ok', pruned: [{ seq: again.seq }] })
      expect((await verifyExport(await lines(orgId))).status).toBe('ok')
    })
  })

  test('entries younger than the retention stay, whatever is asked for', async () => {
    const { orgId } = await makeLedger()
    const after = Date.parse('2026-06-01T00:00:00.000Z')

    for (const upTo of [{ keepDays: 399 }, { before: after }]) {
      await expect(prune(orgId, { upTo, acknowledgeShortRetention: true })).rejects.toThrow(
        /keeps entries for 400 days/,
      )
    }
    expect((await remit.ledger.list(orgId, { order: 'asc', limit: 1 })).data[0]?.seq).toBe(0)
  })

  test('less than 183 days need the operator’s word, a warning names the articles, and the entry tells', async () => {
    const { orgId } = await makeLedger()
    await setSettings(
      remit.writer,
      orgId,
      { retention_days: 1 },
      { acknowledgeShortRetention: true },
    )
    clock.advance(100 * DAY)
    const upTo = { keepDays: 50 }

    await expect(prune(orgId, { upTo })).rejects.toThrow(/19\(1\) and 26\(6\).+183/)
    const pruned = (await prune(orgId, { upTo, acknowledgeShortRetention: true }))!

    expect(pruned.plan).toMatchObject({ cut: 1_000, short: true, retention_days: 1 })
    expect(pruned.plan.warnings.join()).toMatch(/19\(1\) and 26\(6\)/)
    expect((await remit.ledger.entry(orgId, pruned.seq)).data).toMatchObject({ short: true })
    expect(await verifyDatabase(remit.db, orgId, { deep: true })).toMatchObject({
      status: 'ok',
      checked: { from_seq: 1_000 },
    })
  })

  test('a ledger that does not verify is not pruned', async () => {
    const { orgId } = await makeLedger()
    const copies = { agent_id: 'somebody-else' }
    await remit.db
      .updateTable('ledger_entry')
      .set(copies)
      .where('seq', '=', 900)
      .where('org_id', '=', orgId)
      .execute()

    await expect(prune(orgId)).rejects.toThrow(/failed \(tampered, first at seq 900/)

    expect((await readEntries(remit.db, orgId, 0, 1))[0]?.seq).toBe(0)
  })

  test('a file that exists is not replaced, and nothing is pruned', async () => {
    const { orgId } = await makeLedger()
    const path = file()
    await prune(orgId, { path })
    const kept = readFileSync(path, 'utf8')
    const { orgId: other } = await makeLedger()

    await expect(prune(other, { path })).rejects.toThrow(/is not replaced/)

    expect(readFileSync(path, 'utf8')).toBe(kept)
    expect(await remit.ledger.entry(other, 0)).toMatchObject({ kind: 'ledger.genesis' })
  })

  test('what is erased while it is exported ends it: the file would hold it', async () => {
    const { orgId } = await makeLedger()
    const archive = fileArchive(file())
    const erasing = {
      ...archive,
      async write(text: AsyncIterable<string>) {
        const sha256 = await archive.write(text)
        await eraseEntries(remit, orgId, { seqs: [20], reason: 'asked for' })
        return sha256
      },
    }

    await expect(prune(orgId, { archive: erasing })).rejects.toThrow(
      /erased during this pruning: delete/,
    )

    expect((await remit.ledger.entry(orgId, 21)).seq).toBe(21)
    // An entry carried over in vain does no harm and is used the next time.
    expect((await verifyDatabase(remit.db, orgId)).status).toBe('ok')
    const pruned = (await prune(orgId))!
    const { data } = await remit.ledger.list(orgId, {
      kind: 'state.carried',
      order: 'asc',
      limit: 9,
    })
    expect(data).toHaveLength(3)
    expect((await remit.ledger.entry(orgId, pruned.seq)).data).toMatchObject({
      carried: 3,
      redacted: 1,
    })
  })

  test('an archive that cannot be read back as it was written ends it', async () => {
    const { orgId } = await makeLedger()
    const archive = fileArchive(file())
    const broken = {
      ...archive,
      write: async (text: AsyncIterable<string>) => `${await archive.write(text)}0`,
    }

    await expect(prune(orgId, { archive: broken })).rejects.toThrow(Failure)
    expect(
      await planPruning(
        remit.db,
        orgId,
        { upTo: { keepDays: 400 }, acknowledgeShortRetention: false },
        clock.now(),
      ),
    ).toMatchObject({ cut: 700 })
  })
})
