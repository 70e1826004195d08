import { generateKeyPairSync } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClock, createTestRemit, DIALECTS, handMade } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import type { LedgerHeadRow } from '../../src/db/schema.ts'
import { localSignals } from '../../src/db/signals.ts'
import {
  signCheckpoint,
  cosignNote,
  parseVerifierKey,
  createLedgerSigner,
} from '../../src/ledger/format/note.ts'
import { SYSTEM } from '../../src/caller/caller.ts'
import { findHead } from '../../src/ledger/store/store.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { Writer } from '../../src/ledger/write/writer.ts'
import { OPERATOR } from '../../src/orgs/administration.ts'
import { rotateLedgerKey } from '../../src/orgs/rotate-ledger-key.ts'
import {
  cutFrom,
  dropGuards,
  readEntries,
  relink,
  repairHead,
  replaceEntries,
} from '../support/attacker.ts'
import type { Attacked } from '../support/attacker.ts'
import { edit } from '../support/attack-shapes.ts'
import { append, decisionDraft, grow } from '../support/drafts.ts'

const SIZE = 24

const setHead = (change: Partial<LedgerHeadRow>) => (tx: Attacked, orgId: string) =>
  tx.updateTable('ledger_head').set(change).where('org_id', '=', orgId).execute()

/** Puts other entries in the place of a ledger's, with the head and the nodes that belong to them. */
const forge =
  (change: (rows: Awaited<ReturnType<typeof readEntries>>) => typeof rows) =>
  async (tx: Attacked, orgId: string) => {
    await replaceEntries(tx, orgId, change(await readEntries(tx, orgId)))
    return repairHead(tx, orgId)
  }

const foreign = createLedgerSigner(generateKeyPairSync('ed25519').privateKey)

/** The head's note by another key, over what the head says. */
async function signForeign(tx: Attacked, orgId: string, withKey: boolean): Promise<void> {
  const end = await repairHead(tx, orgId)
  const { origin } = (await findHead(tx, orgId))!
  const signer = foreign.forOrigin(origin)
  const note = signCheckpoint(signer, { origin, ...end })
  await setHead(withKey ? { note, vkey: signer.vkey } : { note })(tx, orgId)
}

/** The same, under the id of the ledger's own key. */
async function signAsOwn(tx: Attacked, orgId: string): Promise<void> {
  await signForeign(tx, orgId, false)
  const { note, origin, vkey } = (await findHead(tx, orgId))!
  const [body = '', line = ''] = note.split(`— ${origin} `)
  const signature = Buffer.from(line, 'base64').subarray(4)
  const own = parseVerifierKey(vkey)
  await setHead({ note: cosignNote(body, own, signature) })(tx, orgId)
}

const FORGERIES: Readonly<Record<string, (tx: Attacked, orgId: string) => Promise<unknown>>> = {
  'an entry was appended properly': forge((rows) =>
    relink([...rows, { ...edit(rows[6]!), recorded_at: rows.at(-1)!.recorded_at }], SIZE),
  ),
  'a denial became an allow, and all after it were hashed anew': forge((rows) =>
    relink(rows.with(6, edit(rows[6]!)), 6),
  ),
  'the last entries were cut off': async (tx, orgId) => {
    await cutFrom(tx, orgId, SIZE - 2)
    await repairHead(tx, orgId)
  },
  'the time is in the future': setHead({ recorded_at: '2099-01-01T00:00:00.000Z' }),
  'the hash is another': setHead({ hash: 'a'.repeat(64) }),
  'the frontier is another': setHead({ frontier: 'a'.repeat(128) }),
  'the frontier is of another size': setHead({ frontier: '' }),
  'the note is none': setHead({ note: 'signed' }),
  'the note is signed by another key': (tx, orgId) => signForeign(tx, orgId, false),
  'the note is signed by another key under the id of its own': signAsOwn,
  'note and key are others': (tx, orgId) => signForeign(tx, orgId, true),
  'the origin is another': setHead({ origin: 'elsewhere/ledger' }),
  'the origin is none': setHead({ origin: 'no name + at all' }),
}

describe.each(DIALECTS)('a head that its key did not sign, on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    await dropGuards(remit.db)
  })
  afterAll(() => remit.close())

  /** The writer of a process that has not seen the ledger before. */
  const another = (privateKey = remit.signingKey) => ({
    writer: new Writer({
      db: remit.db,
      clock,
      signer: createLedgerSigner(privateKey),
      log: pino({ level: 'silent' }),
      signals: localSignals(),
      authenticator: { recheck: () => Promise.resolve(new Map()) },
    }),
  })

  async function grown(): Promise<string> {
    const { id } = await remit.organization()
    await grow(remit, id, SIZE, clock)
    return id
  }

  test.each(Object.entries(FORGERIES))('is not gone on from: %s', async (_name, attack) => {
    const orgId = await grown()
    const sound = (await findHead(remit.db, orgId))!
    await remit.db.transaction().execute((tx) => attack(tx, orgId))
    const forged = await remit.db.transaction().execute((tx) => readEntries(tx, orgId))

    for (const process of [remit, another()]) {
      const refused = append(process, orgId, [decisionDraft(1)])
      await expect(refused).rejects.toMatchObject({ code: 'ledger_unavailable', status: 503 })
    }

    const vkeys = [sound.vkey]
    expect(await remit.db.transaction().execute((tx) => readEntries(tx, orgId))).toEqual(forged)
    expect(await verifyDatabase(remit.db, orgId, { vkeys })).not.toMatchObject({ status: 'ok' })
  })

  test('a signed head of the past is not gone on from by a server that has answered more', async () => {
    const orgId = await grown()
    const past = (await findHead(remit.db, orgId))!
    await append(remit, orgId, [decisionDraft(1), decisionDraft(2)])
    await remit.db.transaction().execute(async (tx) => {
      await cutFrom(tx, orgId, past.size)
      await setHead(past)(tx, orgId)
    })

    await expect(append(remit, orgId, [decisionDraft(3)])).rejects.toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining('lacks an entry that this server has seen'),
    })

    expect((await findHead(remit.db, orgId))!.size).toBe(past.size)
    // After a restart, checkpoints outside of the database take over.
    await append(another(), orgId, [decisionDraft(3)])
    expect(await verifyDatabase(remit.db, orgId)).toMatchObject({ status: 'ok' })
    // Nor when the others have written past what it answered.
    for (const more of [1, 2]) {
      await append(another(), orgId, [decisionDraft(more)])
      await expect(append(remit, orgId, [decisionDraft(4)])).rejects.toMatchObject({
        code: 'ledger_unavailable',
        message: expect.stringContaining('lacks an entry that this server has seen'),
      })
    }
    expect((await findHead(remit.db, orgId))!.size).toBe(past.size + 3)
  })

  test.each(['an entry was appended properly', 'the last entries were cut off'])(
    'is told of behind it, unsigned, and stays found: %s',
    async (name) => {
      const orgId = await grown()
      const { note, vkey } = (await findHead(remit.db, orgId))!
      await remit.db.transaction().execute((tx) => FORGERIES[name]!(tx, orgId))
      const found = () => verifyDatabase(remit.db, orgId, { vkeys: [vkey] })
      const before = await found()

      for (const { writer } of [remit, another(), remit])
        await writer.work(orgId, OPERATOR, () => Promise.resolve(telling), { evenIfForged: true })
      const together = [{ evenIfForged: true }, {}].map((options) =>
        remit.writer.work(orgId, OPERATOR, () => Promise.resolve(telling), options),
      )

      const [told, refused] = await Promise.allSettled(together)
      expect([told?.status, refused?.status]).toEqual(['fulfilled', 'rejected'])
      const after = (await findHead(remit.db, orgId))!
      expect(after.note).toBe(note)
      await expect(remit.ledger.proof(orgId, after.size - 1)).rejects.toMatchObject({
        code: 'ledger_unavailable',
      })
      expect(before.status).toBe('tampered')
      expect(await found()).toMatchObject({
        status: 'tampered',
        checked: { entries: before.checked.entries + 4 },
      })
    },
  )

  test('is gone on from once it is what it was', async () => {
    const orgId = await grown()
    const sound = (await findHead(remit.db, orgId))!
    await remit.db.transaction().execute((tx) => setHead({ hash: 'a'.repeat(64) })(tx, orgId))
    await expect(append(remit, orgId, [decisionDraft(1)])).rejects.toThrow(
      'The ledger head does not match',
    )
    await remit.db.transaction().execute((tx) => setHead(sound)(tx, orgId))

    for (const process of [remit, another(), remit, another()])
      await append(process, orgId, [decisionDraft(1)])

    const vkeys = [sound.vkey]
    const report = await verifyDatabase(remit.db, orgId, { vkeys })
    expect(report).toMatchObject({ status: 'ok', checked: { entries: SIZE + 4 } })
  })

  test('is no ledger to hand over to another key', async () => {
    const orgId = await grown()
    const sound = (await findHead(remit.db, orgId))!
    const { privateKey: newKey } = generateKeyPairSync('ed25519')
    const rotate = () =>
      rotateLedgerKey({ db: remit.db, clock, oldKey: remit.signingKey, newKey }, orgId)
    await remit.db.transaction().execute((tx) => forgeAppended(tx, orgId))
    await expect(rotate()).rejects.toMatchObject({ code: 'ledger_unavailable' })

    await remit.db.transaction().execute(async (tx) => {
      await cutFrom(tx, orgId, SIZE)
      await repairHead(tx, orgId)
      await setHead(sound)(tx, orgId)
    })
    await rotate()
    await append(another(newKey), orgId, [decisionDraft(1)])

    const report = await verifyDatabase(remit.db, orgId, { vkeys: [sound.vkey] })
    expect(report).toMatchObject({ status: 'ok', checked: { entries: SIZE + 2 } })
  })

  test('is sound once it was handed over, for who knows the new key alone, before anything else is written', async () => {
    const orgId = await grown()
    const { privateKey: newKey } = generateKeyPairSync('ed25519')
    await rotateLedgerKey({ db: remit.db, clock, oldKey: remit.signingKey, newKey }, orgId)

    const { vkey } = (await findHead(remit.db, orgId))!
    expect(await verifyDatabase(remit.db, orgId, { vkeys: [vkey] })).toMatchObject({
      status: 'ok',
      anchored_by: 'signature',
      truncation_checked: false,
    })
    const { vkey: unknownKey } = createLedgerSigner(
      generateKeyPairSync('ed25519').privateKey,
    ).forOrigin('remit.example.com/ledger/org_acme/led_01')
    expect(await verifyDatabase(remit.db, orgId, { vkeys: [unknownKey] })).toMatchObject({
      status: 'tampered',
      first_invalid: { code: 'untrusted_key' },
    })
  })

  test('is not handed over by who has another key alone', async () => {
    const orgId = await grown()
    const own = (await findHead(remit.db, orgId))!
    await remit.db.transaction().execute((tx) => signForeign(tx, orgId, true))
    const { privateKey: oldKey } = generateKeyPairSync('ed25519')
    const rotation = rotateLedgerKey(
      { db: remit.db, clock, oldKey, newKey: remit.signingKey },
      orgId,
    )
    await expect(rotation).rejects.toMatchObject({ code: 'ledger_unavailable' })
    await remit.db.transaction().execute((tx) => setHead({ vkey: own.vkey })(tx, orgId))

    await expect(append(remit, orgId, [decisionDraft(1)])).rejects.toMatchObject({
      code: 'ledger_unavailable',
    })
  })
})

const telling = {
  entries: [handMade({ kind: 'test.told', actor: SYSTEM, data: {} })],
  reply: () => undefined,
}

const forgeAppended = FORGERIES['an entry was appended properly']!
