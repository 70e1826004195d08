import { setTimeout } from 'node:timers/promises'
import { SYSTEM } from '@remit/core/caller'
import { OPERATOR } from '@remit/core/orgs'
import { apiOf, createApi, createTestRemit, handMade, runs, someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import compliance from '../src/index.ts'
import { Attacker } from './support/attacker.ts'

const entries = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    handMade({ kind: 'key.created', actor: SYSTEM, data: { key: { id: `key_${i}` } } }),
  )

describe.each(someDialects())('POST /v1/compliance/verify-ledger on %s', (dialect) => {
  let api: Api

  beforeAll(async () => {
    api = await createApi({ dialect, modules: [compliance] })
    await Attacker.dropGuards(api.remit.db)
  })
  afterAll(() => api.remit.close())

  /** An organization of its own with a number of entries. */
  const ledgerOf = async (count: number): Promise<Api> => {
    const org = await api.remit.organization()
    if (count > 3)
      await api.remit.writer.work(org.id, OPERATOR, () =>
        Promise.resolve({ entries: entries(count - 3), reply: () => undefined }),
      )
    return apiOf(api.remit, org)
  }

  const afterRestart = async ({ org }: Api): Promise<Api> => {
    const { url, signingKey } = api.remit
    const remit = await createTestRemit({ url, signingKey, modules: [compliance] })
    onTestFinished(() => remit.close())
    return apiOf(remit, org)
  }

  describe('200', () => {
    test('a valid ledger is valid, and the response lists the limits', async () => {
      const own = await ledgerOf(20)
      const found = await own.ok('verifyLedger', { body: {} })

      expect(found).toMatchObject({
        valid: true,
        status: 'ok',
        checked: { from_seq: 0, to_seq: 19, entries: 20 },
        anchored_by: 'signature',
        truncation_checked: false,
        first_invalid: null,
        errors: [],
        gaps: 0,
        reports: { checked: 0, mismatched: 0 },
        recorded: true,
        not_recorded: null,
        ledger: { seq: 20 },
      })
      expect(found.head.seq).toBe(19)
      expect(found.not_checked.length).toBeGreaterThan(0)
    })

    test('a restored older copy is not called complete, also against an older checkpoint', async () => {
      const own = await ledgerOf(6)
      const older = await api.remit.ledger.head(own.org.id)
      const attacker = new Attacker(api.remit.db, own.org.id)
      const copy = await attacker.copy()
      await api.remit.writer.work(own.org.id, OPERATOR, () =>
        Promise.resolve({ entries: entries(3), reply: () => undefined }),
      )
      const newer = await api.remit.ledger.head(own.org.id)
      await attacker.restore(copy)
      const refused = await own.ok('verifyLedger', { body: {} })
      // A server that was not there before cannot know.
      const restarted = await afterRestart(own)
      const alone = await restarted.ok('verifyLedger', { body: {} })
      const withOlder = await restarted.ok('verifyLedger', { body: { checkpoint: older.note } })
      await attacker.restore(copy)
      const withNewer = await restarted.ok('verifyLedger', { body: { checkpoint: newer.note } })

      expect(refused).toMatchObject({
        recorded: false,
        not_recorded: expect.stringMatching(/a backup was restored/) as string,
      })

      expect(alone).toMatchObject({ status: 'ok', truncation_checked: false })
      expect(alone.not_checked).toContainEqual(expect.stringMatching(/^Missing entries at the end/))
      expect(withOlder).toMatchObject({
        status: 'ok',
        anchored_by: 'external',
        truncation_checked: false,
      })
      expect(withOlder.not_checked).toContainEqual(
        expect.stringMatching(/^Missing entries after the first 6:/),
      )
      expect(withNewer).toMatchObject({ status: 'behind_checkpoint', truncation_checked: false })
    })

    test('a restored copy that ends at the newest checkpoint looks complete, and the limits say so', async () => {
      const own = await ledgerOf(6)
      const { note } = await api.remit.ledger.head(own.org.id)
      const attacker = new Attacker(api.remit.db, own.org.id)
      const copy = await attacker.copy()
      await api.remit.writer.work(own.org.id, OPERATOR, () =>
        Promise.resolve({ entries: entries(3), reply: () => undefined }),
      )
      await attacker.restore(copy)
      const restarted = await afterRestart(own)
      const found = await restarted.ok('verifyLedger', { body: { checkpoint: note } })

      expect(found).toMatchObject({
        status: 'ok',
        checked: { entries: 6 },
        anchored_by: 'external',
        truncation_checked: true,
      })
      expect(found.not_checked).toContainEqual(
        expect.stringMatching(/^Missing entries after the first 6:/),
      )
    })

    test('it is recorded with the result and the verified range', async () => {
      const own = await ledgerOf(5)
      const { head, ledger } = await own.ok('verifyLedger', { body: {} })
      const stored = await api.remit.ledger.entry(own.org.id, ledger!.seq)

      expect(stored).toMatchObject({
        kind: 'ledger.verified',
        actor: { type: 'key' },
        data: { valid: true, part: false, status: 'ok', checkpoint: head, first_invalid: null },
      })
    })

    test('a partial verification is marked as such', async () => {
      const own = await ledgerOf(30)
      await new Attacker(api.remit.db, own.org.id).set(20, { payload: '{}' })
      const [before, across] = [
        await own.ok('verifyLedger', { body: { from_seq: 5, to_seq: 19 } }),
        await own.ok('verifyLedger', { body: { from_seq: 18 } }),
      ]
      const recorded = await api.remit.ledger.entry(own.org.id, before.ledger!.seq)

      expect(before).toMatchObject({
        valid: true,
        checked: { from_seq: 5, to_seq: 19, entries: 15 },
      })
      expect(before.not_checked.join()).toContain('before seq 5')
      expect(across).toMatchObject({ valid: false, first_invalid: { seq: 20 } })
      expect(recorded.data).toMatchObject({ valid: false, part: true, status: 'ok' })
    })

    test('a checkpoint that was kept elsewhere holds it, also with other line ends', async () => {
      const own = await ledgerOf(6)
      const { note } = await api.remit.ledger.head(own.org.id)

      for (const checkpoint of [note, note.trimEnd(), `${note}\n`, note.replaceAll('\n', '\r\n')])
        expect(await own.ok('verifyLedger', { body: { checkpoint } })).toMatchObject({
          valid: true,
          anchored_by: 'external',
          checkpoints: { mismatched: 0 },
        })
    })

    test('a checkpoint beyond the verified part is not compared, and this is reported', async () => {
      const own = await ledgerOf(30)
      const { note } = await api.remit.ledger.head(own.org.id)
      const found = await own.ok('verifyLedger', { body: { to_seq: 10, checkpoint: note } })

      expect(found).toMatchObject({ valid: true, checkpoints: { checked: 0 } })
      expect(found.not_checked).toContainEqual(
        expect.stringMatching(/^The roots of 1 checkpoints beyond seq 10: /),
      )
    })

    test('a missing ledger is reported to the holder of a checkpoint', async () => {
      const own = await ledgerOf(6)
      const { note } = await api.remit.ledger.head(own.org.id)
      await new Attacker(api.remit.db, own.org.id).removeAll()
      const found = await own.ok('verifyLedger', { body: { checkpoint: note } })

      expect(found).toMatchObject({ valid: false, recorded: false })
      expect(found.errors.map(({ code }) => code)).toContain('truncated')
    })

    test('errors are counted, and the first hundred listed with their positions', async () => {
      const own = await ledgerOf(150)
      const attacker = new Attacker(api.remit.db, own.org.id)
      for (let seq = 10; seq < 140; seq++) await attacker.set(seq, { action: 'never said' })
      const found = await own.ok('verifyLedger', { body: {} })

      expect(found).toMatchObject({
        error_count: 130,
        first_invalid: { seq: 10, code: 'copy_mismatch' },
      })
      expect(found.errors).toHaveLength(100)
      expect(found.errors[7]).toMatchObject({ seq: 17, code: 'copy_mismatch', detail: 'action' })
    })

    test('a repeated request with its key is answered as the first one, with one entry', async () => {
      const own = await ledgerOf(3)
      const headers = { 'idempotency-key': 'again' }
      const [first, second] = [
        await own.ok('verifyLedger', { body: {}, headers }),
        await own.ok('verifyLedger', { body: {}, headers }),
      ]

      expect(second).toEqual(first)
      expect((await api.remit.ledger.head(own.org.id)).size).toBe(4)
    })

    // SQLite keeps bytes in a column of texts, PostgreSQL does not.
    const bytes = dialect === 'sqlite' ? [{ origin: Buffer.from('elsewhere') as never }] : []
    test.each([{ frontier: 'zz' }, { hash: 'zz' }, { origin: 'elsewhere' }, ...bytes])(
      'a ledger that the server cannot write to is answered for all the same: %j',
      async (head) => {
        const own = await ledgerOf(6)
        await new Attacker(api.remit.db, own.org.id).setHead(head)
        const found = await own.ok('verifyLedger', { body: {} })

        expect(found).toMatchObject({ valid: false, recorded: false, ledger: null })
        expect(found.not_recorded).not.toBe('')
      },
    )

    test('keys that read may ask, and are named in the entry', async () => {
      const own = await ledgerOf(3)
      const key = await api.remit.key(own.org.id, 'read')

      expect(await own.ok('verifyLedger', { body: {}, key })).toMatchObject({ valid: true })
    })
  })

  describe('400', () => {
    test.each([
      [{ from_seq: -1 }, 'from_seq'],
      [{ to_seq: 1.5 }, 'to_seq'],
      [{ checkpoint: 'words' }, 'checkpoint'],
      [{ checkpoint: '' }, 'checkpoint'],
      [{ until: 3 }, 'until'],
      [{ from_seq: 3, to_seq: 2 }, 'from_seq'],
      [{ from_seq: 5_000 }, 'from_seq'],
    ])('%j: %s is named', async (body, path) => {
      const { code, errors } = await api.refusal('verifyLedger', { body })

      expect(code).toBe('invalid_request')
      expect(errors?.map((error) => error.path)).toContain(path)
    })
  })

  test('400: a checkpoint of another ledger, or none, says so and leaves no entry', async () => {
    const [own, other] = [await ledgerOf(6), await ledgerOf(6)]
    const { note, origin } = await api.remit.ledger.head(own.org.id)
    const [text] = note.split('\n\n')
    const foreign = await other.refusal('verifyLedger', { body: { checkpoint: note } })
    const unsigned = await own.refusal('verifyLedger', { body: { checkpoint: `${text}\n` } })
    const changed = await own.refusal('verifyLedger', {
      body: { checkpoint: note.replace(/^\d+$/m, '2') },
    })

    expect(foreign.errors).toMatchObject([{ path: 'checkpoint' }])
    expect(foreign.detail).toContain(origin)
    expect(foreign.detail).toContain((await api.remit.ledger.head(other.org.id)).origin)
    expect(changed.detail).toMatch(/^checkpoint: is not signed by a key of this server or by a key/)
    expect(unsigned.detail).toMatch(/^checkpoint: must be a signed checkpoint, as /)
    for (const { org } of [own, other]) expect((await api.remit.ledger.head(org.id)).size).toBe(6)
  })

  const elsewhere = 'elsewhere.test/ledger/org_x/led_x'

  test('the head does not say which ledger a checkpoint is of: changed, it is found', async () => {
    const own = await ledgerOf(6)
    const { note } = await api.remit.ledger.head(own.org.id)
    await new Attacker(api.remit.db, own.org.id).setHead({ origin: elsewhere })

    const found = await own.ok('verifyLedger', { body: { checkpoint: note } })

    expect(found).toMatchObject({ valid: false, anchored_by: 'external', recorded: false })
    expect(found.errors.map(({ code }) => code)).toEqual(['head_mismatch'])
    expect(found.checkpoints.mismatched).toBe(0)
  })

  test.each([
    [
      'changed',
      (text: string) => text.replace('remit.test', 'remit.best'),
      {},
      ['0 commitment_mismatch'],
    ],
    ['erased', () => null, { origin: elsewhere }, ['0 payload_missing']],
  ])(
    'a genesis that was %s refuses no checkpoint: it is found',
    async (_, change, head, wanted) => {
      const own = await ledgerOf(6)
      const { note } = await api.remit.ledger.head(own.org.id)
      const attacker = new Attacker(api.remit.db, own.org.id)
      const [genesis] = await attacker.entries()
      const payload = change(genesis!.payload!)
      await attacker.set(0, { payload, salt: payload && genesis!.salt })
      await attacker.setHead({ ...head, size: 6 })

      const { valid, errors } = await own.ok('verifyLedger', { body: { checkpoint: note } })

      expect(valid).toBe(false)
      expect(errors.slice(0, 1).map(({ seq, code }) => `${seq} ${code}`)).toEqual(wanted)
    },
  )

  test('401 and 403: without a key, and with one that may not', async () => {
    const ingest = await api.remit.key(api.org.id, 'ingest')

    expect((await api.refusal('verifyLedger', { body: {}, key: 'none' })).code).toBe('unauthorized')
    expect((await api.refusal('verifyLedger', { body: {}, key: ingest })).code).toBe(
      'role_required',
    )
  })

  test('a loop of verifications raises no false alarm while entries are written', async () => {
    const own = await ledgerOf(300)
    const done = new AbortController()
    const writing = (async () => {
      // Without an end it would write more on a busy machine than there is time to verify.
      for (let i = 0; i < 200 && !done.signal.aborted; i++) {
        await setTimeout(5)
        await api.remit.writer.work(own.org.id, OPERATOR, () =>
          Promise.resolve({ entries: entries(1 + (i % 40)), reply: () => undefined }),
        )
      }
    })()
    const found = []
    for (let i = 0; i < runs(10, 4); i++) found.push(await own.ok('verifyLedger', { body: {} }))
    done.abort()
    await writing

    expect(found.filter(({ valid }) => !valid)).toEqual([])
    expect(found.at(-1)!.checked.entries).toBeGreaterThan(found[0]!.checked.entries)
  })
})

test('a database in memory is verified as well, though no thread can open it', async () => {
  const remit = await createTestRemit({ url: 'sqlite::memory:', modules: [compliance] })
  const api = apiOf(remit, await remit.organization())
  const found = await api.ok('verifyLedger', { body: {} })
  await remit.close()

  expect(found).toMatchObject({ valid: true, checked: { entries: 3 }, recorded: true })
})
