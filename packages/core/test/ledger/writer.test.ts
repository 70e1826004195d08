import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/open.ts'
import type { CoreTables } from '../../src/db/schema.ts'
import { fail } from '../../src/base/errors.ts'
import { localSignals } from '../../src/db/signals.ts'
import { createLedgerSigner } from '../../src/ledger/format/note.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { lane } from '../../src/ledger/write/work.ts'
import { Writer } from '../../src/ledger/write/writer.ts'
import type { WriterOptions } from '../../src/ledger/write/writer.ts'
import { OPERATOR } from '../../src/orgs/administration.ts'
import { SYSTEM } from '../../src/caller/caller.ts'
import { createTestRemit, DIALECTS, handMade, openPatiently } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { append, decisionDraft, draftLane } from '../support/drafts.ts'

describe.each(DIALECTS)('the writer on %s', (dialect) => {
  let remit: TestRemit
  /** A second connection: it sees what is committed and nothing else. */
  let other: Database<CoreTables>
  let orgId: string
  beforeAll(async () => {
    remit = await createTestRemit({ dialect })
    other = openPatiently<CoreTables>(remit.url)
    orgId = (await remit.organization()).id
  })
  afterAll(async () => {
    await other.destroy()
    await remit.close()
  })

  const head = () => remit.ledger.head(orgId)
  const writer = (options: Partial<WriterOptions>) =>
    new Writer({
      db: remit.db,
      clock: systemClock,
      signer: createLedgerSigner(remit.signingKey),
      log: pino({ level: 'silent' }),
      signals: localSignals(),
      authenticator: { recheck: () => Promise.resolve(new Map()) },
      ...options,
    })
  const rename = (name: string) =>
    remit.writer.change(orgId, OPERATOR, async ({ tx }) => {
      await tx.updateTable('organization').set({ name }).where('id', '=', orgId).execute()
      if (name === 'refused') throw fail('invalid_request', 'not that')
      if (name === 'broken') throw new Error('not that either')
      const entry = handMade({ kind: 'test.renamed', actor: SYSTEM, data: { name } })
      return { entries: name === 'unrecorded' ? [] : [entry], reply: () => name }
    })

  test('resolves with an entry that another connection reads at that moment', async () => {
    const seen = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const [receipt] = await append(remit, orgId, [decisionDraft(n)])
        const row = await other
          .selectFrom('ledger_entry')
          .select('hash')
          .where('org_id', '=', orgId)
          .where('seq', '=', receipt!.seq)
          .executeTakeFirst()
        return row?.hash === receipt!.hash
      }),
    )

    expect(seen).toEqual(Array(20).fill(true))
  })

  test.each([
    ['refused', { code: 'invalid_request' }],
    ['broken', { message: 'not that either' }],
    ['unrecorded', { message: 'a configuration change must append an entry' }],
  ])('a change that is %s leaves nothing', async (name, reason) => {
    const before = await head()

    await expect(rename(name)).rejects.toMatchObject(reason)

    const organization = remit.db.selectFrom('organization').select('name').where('id', '=', orgId)
    expect((await organization.executeTakeFirstOrThrow()).name).not.toBe(name)
    expect(await head()).toEqual(before)
  })

  test('config_version moves with every change and with nothing else', async () => {
    const { config_version: version } = await head()

    await append(remit, orgId, [decisionDraft(1)])
    await Promise.all([append(remit, orgId, [decisionDraft(2)]), append(remit, orgId, [])])
    await expect(rename('refused')).rejects.toThrow('not that')
    expect((await head()).config_version).toBe(version)

    await rename('one')
    await Promise.all([rename('two'), append(remit, orgId, [decisionDraft(3)]), rename('three')])
    expect((await head()).config_version).toBe(version + 3)
  })

  test('a piece that breaks its batch does not take the others with it', async () => {
    const { size } = await head()
    const attempts: number[] = []
    const fragile = lane<string, number>('fragile', (works) => {
      attempts.push(works.length)
      if (works.some(({ job }) => job === 'poison')) return Promise.reject(new Error('poisoned'))
      return Promise.resolve({
        outcomes: works.map(() => ({
          entries: [handMade(decisionDraft(1))],
          reply: ([recorded]) => recorded!.receipt.seq,
        })),
      })
    })

    const answers = await Promise.allSettled(
      ['a', 'b', 'poison', 'c'].map((job) => remit.writer.submit(fragile, orgId, job, OPERATOR)),
    )

    expect(attempts).toEqual([4, 1, 1, 1, 1])
    expect(answers).toMatchObject([
      { status: 'fulfilled', value: size },
      { status: 'fulfilled', value: size + 1 },
      { status: 'rejected', reason: { code: 'ledger_unavailable' } },
      { status: 'fulfilled', value: size + 2 },
    ])
    expect((await head()).size).toBe(size + 3)
  })

  test('an entry that cannot be written does not take the others with it', async () => {
    const { size } = await head()
    const large = { ...decisionDraft(1), data: { text: 'x'.repeat(300 * 1024) } }

    const answers = await Promise.allSettled(
      [decisionDraft(1), large, decisionDraft(2)].map((draft) => append(remit, orgId, [draft])),
    )

    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await head()).size).toBe(size + 2)
  })

  test('a queue that is full is answered with overloaded, and the rest is carried out', async () => {
    const { size } = await head()
    const narrow = writer({ maxWaiting: 2 })

    const answers = await Promise.allSettled(
      [1, 2, 3].map((n) => narrow.submit(draftLane, orgId, [decisionDraft(n)], OPERATOR)),
    )

    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(answers[2]).toMatchObject({
      reason: { code: 'overloaded', status: 503, extras: { headers: { 'Retry-After': '1' } } },
    })
    expect((await head()).size).toBe(size + 2)
  })

  test('pieces that come turn by turn of the event loop share a commit', async () => {
    const batches: number[] = []
    // However slow the machine is, the turns take no time.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    const counted: typeof draftLane = lane('counted', (works, scope) => {
      batches.push(works.length)
      return draftLane.open(orgId).run(works, scope)
    })
    const own = writer({})
    const answers: Promise<unknown>[] = []

    for (const n of [1, 2, 3, 4]) {
      const turn = setImmediate()
      answers.push(own.submit(counted, orgId, [decisionDraft(n)], OPERATOR))
      await turn
    }
    await Promise.all(answers)
    vi.restoreAllMocks()

    expect(batches).toEqual([4])
  })

  test('a commit waits for those who have just been answered and come again', async () => {
    const batches: number[] = []
    // Commits seem to take long, so that there is patience for the next one.
    let ahead = 0
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
    const own = writer({})
    const thirds: Promise<unknown>[] = []
    let attempts = 0
    const slow: typeof draftLane = lane('slow', (works, scope) => {
      batches.push(works.length)
      ahead += 1_000
      if (thirds.length < attempts) thirds.push(submit(3))
      return draftLane.open(orgId).run(works, scope)
    })
    const submit = (n: number) => own.submit(slow, orgId, [decisionDraft(n)], OPERATOR)
    const twice = async (n: number) => {
      await submit(n)
      // Later than what is in the queue would be taken, if nobody waited.
      for (let turn = 0; turn < 4; turn++) await setImmediate()
      await submit(n)
    }

    // The machine may have been away for longer than a commit waits.
    while (batches.at(-1) !== 3 && attempts++ < 5) {
      await Promise.all([twice(1), twice(2)])
      await Promise.all(thirds)
    }
    vi.restoreAllMocks()

    expect(batches.slice(-2)).toEqual([2, 3])
  })

  test('a piece that waited too long is refused and not carried out', async () => {
    const { size } = await head()

    const late = writer({ maxWaitMs: -1 }).submit(draftLane, orgId, [decisionDraft(1)], OPERATOR)

    await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded', status: 503 })
    expect((await head()).size).toBe(size)
  })

  test('draining carries out what waits and refuses what comes', async () => {
    const { size } = await head()
    const own = writer({ maxBatch: 1 })
    const waiting = [1, 2, 3].map((n) => own.submit(draftLane, orgId, [decisionDraft(n)], OPERATOR))

    const drained = own.drain()
    const late = own.submit(draftLane, orgId, [decisionDraft(4)], OPERATOR)

    await expect(late).rejects.toMatchObject({ code: 'overloaded' })
    await drained
    expect((await head()).size).toBe(size + 3)
    await Promise.all(waiting)
  })

  test('a server with another signing key than the ledger’s cannot write to it', async () => {
    const before = await head()
    const stranger = await createTestRemit({ url: remit.url })

    const forged = append(stranger, orgId, [decisionDraft(1)])

    await expect(forged).rejects.toMatchObject({ code: 'ledger_unavailable', status: 503 })
    expect(await head()).toEqual(before)
    await stranger.close()
  })

  test('a clock that goes back does not take the ledger’s times with it', async () => {
    const { recorded_at } = await head()

    await writer({ clock: { now: () => 0 } }).submit(draftLane, orgId, [decisionDraft(1)], OPERATOR)

    expect((await head()).recorded_at).toBe(recorded_at)
  })

  test('what all this has left is one sound chain', async () => {
    const { vkey } = await head()

    expect(await verifyDatabase(other, orgId, { vkeys: [vkey], deep: true })).toMatchObject({
      status: 'ok',
      errors: [],
      truncation_checked: false,
    })
  })
})
