import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAttack, cutFrom, dropGuards, setEntry } from '../../../test/support/attacker.ts'
import type { Attacked } from '../../../test/support/attacker.ts'
import { append, decisionDraft, grow } from '../../../test/support/drafts.ts'
import type { LedgerHeadRow } from '../../db/schema.ts'
import { SYSTEM } from '../../caller/caller.ts'
import { rotateLedgerKey } from '../../orgs/rotate-ledger-key.ts'
import { CheckpointError, NoteError } from '../format/note.ts'
import { verifyDatabase } from './database.ts'

const NOTHING = {
  salt: null,
  payload: null,
  agent_id: null,
  actor_id: null,
  action: null,
  decision: null,
}

const LONG = [
  [30, 'prev_hash'],
  [31, 'hash'],
  [33, 'recorded_at'],
  [34, 'kind'],
  [35, 'commitment'],
  [36, 'salt'],
  [37, 'payload'],
  [38, 'agent_id'],
  [39, 'actor_id'],
  [40, 'action'],
  [41, 'decision'],
] as const

const erasure = (seq: number) => ({ kind: 'ledger.erased', actor: SYSTEM, data: { seqs: [seq] } })

describe.each(fullDialects())('a ledger of two pages on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  let orgId: string
  let vkey: string
  let notes: Map<number, string>
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    orgId = (await remit.organization()).id
    // Forty minutes in all, so that checkpoints are kept for time and for size.
    notes = await grow(remit, orgId, 1_203, clock, 20_000)
    vkey = (await remit.ledger.head(orgId)).vkey
  })
  afterAll(() => remit.close())

  test('is ok, and the report says what was looked at', async () => {
    const { head, note } = { head: await remit.ledger.head(orgId), note: notes.get(703)! }
    const steps: [number, number][] = []

    const report = await verifyDatabase(remit.db, orgId, {
      vkeys: [vkey],
      checkpoints: [note],
      onProgress: (done, total) => steps.push([done, total]),
    })

    expect(report).toMatchObject({
      status: 'ok',
      checked: { from_seq: 0, to_seq: 1_202, entries: 1_203 },
      head: { seq: 1_202, hash: head.hash },
      anchored_by: 'external',
      truncation_checked: false,
      first_invalid: null,
      errors: [],
      error_count: 0,
      // Of forty minutes and four sizes, one being both; the head's and the one from outside.
      checkpoints: { checked: 45, mismatched: 0 },
      nodes: { checked: 4, mismatched: 0 },
    })
    expect(report.not_checked).toContainEqual(expect.stringContaining('config_version'))
    expect(steps).toEqual([
      [1_000, 1_203],
      [1_203, 1_203],
    ])
  })

  test('a checkpoint that time made due is missed', async () => {
    // The first after 08:01, by the commit of the entries 23 to 32.
    const errors = await afterAttack(
      remit.db,
      (tx) => tx.deleteFrom('ledger_checkpoint').where('size', '=', 33).execute(),
      async (tx) => (await verifyDatabase(tx, orgId)).errors,
    )

    expect(errors).toEqual([{ seq: 23, code: 'checkpoint_missing' }])
  })

  test('says so when it looked inside every payload', async () => {
    const sentence = expect.stringMatching(/^The structure of the payloads/)

    const plain = await verifyDatabase(remit.db, orgId)
    const deep = await verifyDatabase(remit.db, orgId, { deep: true })

    expect(plain).toMatchObject({ status: 'ok', not_checked: expect.arrayContaining([sentence]) })
    expect(deep).toMatchObject({
      status: 'ok',
      not_checked: expect.not.arrayContaining([sentence]),
    })
  })

  test('what is appended meanwhile is neither an alarm nor part of the report', async () => {
    const appended: Promise<unknown>[] = []
    const { size } = await remit.ledger.head(orgId)

    const report = await verifyDatabase(remit.db, orgId, {
      onProgress: () => appended.push(append(remit, orgId, [decisionDraft(1)])),
    })

    expect(report).toMatchObject({ status: 'ok', checked: { entries: size } })
    expect(appended.length).toBeGreaterThan(1)
    await Promise.all(appended)
  })

  test('what is erased meanwhile is no alarm', async () => {
    const erased: Promise<unknown>[] = []
    const erase = async () => {
      await append(remit, orgId, [erasure(1_100)])
      await remit.db.transaction().execute((tx) => setEntry(tx, orgId, 1_100, NOTHING))
    }

    const report = await verifyDatabase(remit.db, orgId, {
      onProgress: () => void (erased.length === 0 && erased.push(erase())),
    })

    await Promise.all(erased)
    expect(report.status).toBe('ok')
    expect(await verifyDatabase(remit.db, orgId)).toMatchObject({ status: 'ok', redacted: 1 })
  })

  test('refuses a key and a checkpoint that are none, instead of calling the ledger tampered', async () => {
    await expect(verifyDatabase(remit.db, orgId, { vkeys: ['x'] })).rejects.toThrow(NoteError)
    await expect(verifyDatabase(remit.db, orgId, { checkpoints: ['x'] })).rejects.toThrow(
      CheckpointError,
    )
  })

  test('an organization without a ledger is not ok', async () => {
    expect(await verifyDatabase(remit.db, 'org_of_nobody')).toMatchObject({
      status: 'tampered',
      first_invalid: { seq: 0, code: 'bad_genesis' },
    })
  })
})

describe.each(fullDialects())('what only the database shows, on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  let orgId: string
  let notes: Map<number, string>
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    orgId = (await remit.organization()).id
    // 512 entries after 51 commits: the head and a kept checkpoint have one size.
    notes = await grow(remit, orgId, 512, clock)
    await dropGuards(remit.db)
  })
  afterAll(() => remit.close())

  const errorsAfter = (attack: (tx: Attacked) => Promise<unknown>) =>
    afterAttack(remit.db, attack, async (tx) => {
      const { errors } = await verifyDatabase(tx, orgId)
      return errors.map(({ seq, code, detail }) => [seq, code, detail].join(' '))
    })
  const setHead = (tx: Attacked, change: Partial<LedgerHeadRow>) =>
    tx.updateTable('ledger_head').set(change).where('org_id', '=', orgId).execute()
  const run = (text: string) => (tx: Attacked) => sql.raw(text).execute(tx)

  const cases: readonly [string, (tx: Attacked) => Promise<unknown>, readonly string[]][] = [
    [
      'a missing checkpoint',
      run('delete from ledger_checkpoint where size = 263'),
      ['255 checkpoint_missing '],
    ],
    [
      'a checkpoint under another size',
      run('update ledger_checkpoint set size = 262 where size = 263'),
      ['255 checkpoint_missing ', '261 malformed_checkpoint the row of size 262'],
    ],
    [
      'a checkpoint that lost its last newline',
      run(`update ledger_checkpoint set note = rtrim(note, '\n') where size = 263`),
      ['255 checkpoint_missing ', '262 malformed_checkpoint the row of size 263'],
    ],
    // The kept checkpoint of this size covers the end.
    [
      'a note in the head that lost its last newline',
      (tx) => setHead(tx, { note: notes.get(512)!.slice(0, -1) }),
      ['511 malformed_checkpoint ', '511 head_mismatch note'],
    ],
    [
      'a missing node',
      run('delete from ledger_node where level = 1 and idx = 1'),
      ['511 node_missing level 1, index 1'],
    ],
    [
      'a wrong hash in a node',
      run(`update ledger_node set hash = 'x' || substr(hash, 2) where idx = 0`),
      ['255 node_mismatch level 1, index 0'],
    ],
    [
      'a node too many',
      (tx) =>
        tx
          .insertInto('ledger_node')
          .values({ org_id: orgId, level: 1, idx: 2, hash: '' })
          .execute(),
      ['511 node_unexpected 3 nodes instead of 2'],
    ],
    [
      'an entry that the head does not count',
      run(`insert into ledger_entry (org_id, seq, prev_hash, hash, recorded_at, kind, commitment)
        select org_id, 600, prev_hash, hash, recorded_at, kind, commitment from ledger_entry where seq = 511`),
      ['512 beyond_head entries up to seq 600'],
    ],
    [
      'an entry before the first',
      run(`insert into ledger_entry (org_id, seq, prev_hash, hash, recorded_at, kind, commitment)
        select org_id, -1, prev_hash, hash, recorded_at, kind, commitment from ledger_entry where seq = 511`),
      ['0 out_of_order an entry of seq -1'],
    ],
    ['no head', run('delete from ledger_head'), ['511 head_missing ']],
    [
      'the time of the head',
      (tx) => setHead(tx, { recorded_at: '2026-11-20T08:00:00.000Z' }),
      ['511 head_mismatch recorded_at'],
    ],
    [
      'the origin of the head',
      (tx) => setHead(tx, { origin: 'elsewhere' }),
      ['511 head_mismatch origin'],
    ],
    // The kept checkpoint of this size covers the end, so that only the row itself shows it.
    [
      'an older note in the head',
      (tx) => setHead(tx, { note: notes.get(263)! }),
      ['511 head_mismatch note'],
    ],
    [
      'a payload without its salt',
      (tx) => setEntry(tx, orgId, 40, { salt: null }),
      ['40 commitment_mismatch '],
    ],
    [
      'an erased payload whose copies stayed',
      async (tx) => {
        await setEntry(tx, orgId, 40, { salt: null, payload: null })
        await setEntry(tx, orgId, 50, {
          salt: null,
          payload: null,
          agent_id: null,
          actor_id: null,
          action: null,
          decision: null,
        })
      },
      ['40 payload_missing ', '40 copy_mismatch agent_id', '50 payload_missing '],
    ],
  ]

  test.each(cases)('%s', async (_, attack, expected) => {
    expect(await errorsAfter(attack)).toEqual(expected)
  })

  test('what is longer than anything that is ever written is not read, and found', async () => {
    // PostgreSQL has no room for more in an index.
    const long = (column: string) => 'x'.repeat(column === 'payload' ? 2 * 1024 * 1024 : 100_000)
    const lengths: number[] = []
    const report = await afterAttack(
      remit.db,
      async (tx) => {
        for (const [seq, column] of LONG) await setEntry(tx, orgId, seq, { [column]: long(column) })
      },
      (tx) =>
        verifyDatabase(tx, orgId, {
          onEntry: (row) =>
            lengths.push(...Object.values(row).map((value) => `${value ?? ''}`.length)),
        }),
    )

    expect(Math.max(...lengths)).toBeLessThan(4_096)
    const found = new Set(report.errors.map(({ seq }) => seq))
    expect(LONG.filter(([seq]) => !found.has(seq))).toEqual([])
  })

  test('very many checkpoints above the end are told of by the first ones and the last', async () => {
    const { note } = await remit.ledger.head(orgId)
    const numbers = Array.from({ length: 1_500 }, (_, i) => 1_000_000 + 7 * i)
    const report = await afterAttack(
      remit.db,
      async (tx) => {
        for (let at = 0; at < numbers.length; at += 250) {
          const rows = numbers.slice(at, at + 250).map((size) => ({
            org_id: orgId,
            size,
            note: note.replace(/^\d+$/m, String(size)),
          }))
          await tx.insertInto('ledger_checkpoint').values(rows).execute()
        }
      },
      (tx) => verifyDatabase(tx, orgId),
    )

    expect(report.status).toBe('tampered')
    expect(report.checkpoints.mismatched).toBe(1_001)
  })

  test('a tail that was cut is not hidden by what else it left behind', async () => {
    const errors = await errorsAfter((tx) => cutFrom(tx, orgId, 500))

    expect(errors[0]).toBe('500 truncated the ledger head has the size 512')
  })
})

test('a value of another type is found, although its bytes hash alike', async () => {
  const clock = createClock()
  await using remit = await disposable(createTestRemit({ clock }))
  const orgId = (await remit.organization()).id
  await grow(remit, orgId, 13, clock)
  await dropGuards(remit.db)

  for (const column of ['kind', 'recorded_at', 'payload', 'salt', 'action'] as const) {
    const errors = await afterAttack(
      remit.db,
      (tx) =>
        sql`update ledger_entry set ${sql.ref(column)} = cast(${sql.ref(column)} as blob) where seq = 7`.execute(
          tx,
        ),
      async (tx) => (await verifyDatabase(tx, orgId)).errors,
    )
    expect(errors).toEqual([{ seq: 7, code: 'malformed_row', detail: column }])
  }
})

test('the key of the head is that of the last rotation', async () => {
  const clock = createClock()
  await using remit = await disposable(createTestRemit({ clock }))
  await using next = await disposable(createTestRemit({ clock, url: remit.url }))
  const orgId = (await remit.organization()).id
  const keys = { oldKey: remit.signingKey, newKey: next.signingKey }
  const { old_vkey } = await rotateLedgerKey({ db: remit.db, clock, ...keys }, orgId)
  await append(next, orgId, [decisionDraft(1)])

  expect(await verifyDatabase(remit.db, orgId, { vkeys: [old_vkey] })).toMatchObject({
    status: 'ok',
    anchored_by: 'signature',
    truncation_checked: false,
  })
  const errorsAfter = (attack: (tx: Attacked) => Promise<unknown>) =>
    afterAttack(remit.db, attack, async (tx) => (await verifyDatabase(tx, orgId)).errors)
  expect(await errorsAfter((tx) => tx.deleteFrom('ledger_checkpoint').execute())).toMatchObject([
    { seq: 3, code: 'checkpoint_missing' },
  ])
  expect(
    await errorsAfter((tx) => tx.updateTable('ledger_head').set({ vkey: old_vkey }).execute()),
  ).toMatchObject([{ seq: 4, code: 'head_mismatch', detail: 'vkey' }])
})

/** Closes it when the test ends, however it ends. */
async function disposable(opened: Promise<TestRemit>): Promise<TestRemit & AsyncDisposable> {
  const remit = await opened
  return { ...remit, [Symbol.asyncDispose]: () => remit.close() }
}
