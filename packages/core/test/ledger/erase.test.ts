import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fail } from '../../src/base/errors.ts'
import type { CarriedHeader } from '../../src/ledger/format/carried.ts'
import { entryHash, headerOf } from '../../src/ledger/format/entry.ts'
import { verifyExport } from '../../src/ledger/verify/export.ts'
import type { Eraser } from '../../src/ledger/write/eraser.ts'
import type { Draft } from '../../src/ledger/format/draft.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { eraseEntries } from '../../src/orgs/erase-entries.ts'
import type { Erasure } from '../../src/orgs/erase-entries.ts'
import { createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAttack, dropGuards, setEntry } from '../support/attacker.ts'
import { append, decisionDraft, grow } from '../support/drafts.ts'
import { prune } from '../support/pruning.ts'

const REASON = 'request of the person concerned'

/** Texts that must be absent afterwards, in the payload and its copies. */
const SECRET = 'Erika-Mustermann-1964'

const personal = (n: number): Draft => ({
  ...decisionDraft(n),
  agent_id: `agent-of-${SECRET}`,
  action: `call.${SECRET}`,
  actor: { type: 'agent', id: `agent-of-${SECRET}` },
  data: { context: { name: SECRET, filling: `${SECRET} `.repeat(n) } },
})

describe.each(fullDialects())('erasure on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    await dropGuards(remit.db)
  })
  afterAll(() => remit.close())

  const erase = (orgId: string, seqs: number[], more: { person?: string } = {}) =>
    eraseEntries(remit, orgId, { seqs, reason: REASON, ...more })
  const makeLedger = async (size = 23): Promise<string> => {
    const { id } = await remit.organization()
    await grow(remit, id, size, clock)
    return id
  }
  const rowOf = (orgId: string, seq: number) =>
    remit.db
      .selectFrom('ledger_entry')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('seq', '=', seq)
      .executeTakeFirstOrThrow()

  describe('of two entries', () => {
    let orgId: string
    let before: Awaited<ReturnType<typeof rowOf>>
    let done: Erasure
    beforeAll(async () => {
      orgId = await makeLedger()
      before = await rowOf(orgId, 10)
      done = await erase(orgId, [12, 10, 10], { person: 'ada@example.org' })
    })

    test('takes payload, salt and copies, and nothing of the header', async () => {
      expect(await rowOf(orgId, 10)).toEqual({
        ...before,
        salt: null,
        payload: null,
        agent_id: null,
        actor_id: null,
        action: null,
        decision: null,
      })
      expect((await rowOf(orgId, 11)).payload).not.toBeNull()
    })

    test('is an entry itself, with actor, person and reason', async () => {
      expect(done).toMatchObject({ seqs: [10, 12], log_emptied: true })
      expect(await remit.ledger.entry(orgId, done.seq)).toMatchObject({
        kind: 'ledger.erased',
        actor: { type: 'system', id: 'remit' },
        data: { seqs: [10, 12], reason: REASON, person: 'ada@example.org' },
      })
    })

    test('the ledger verifies as before, deeply, and counts them', async () => {
      const { vkey } = await remit.ledger.head(orgId)
      const report = await verifyDatabase(remit.db, orgId, { vkeys: [vkey], deep: true })

      expect(report).toMatchObject({ status: 'ok', redacted: 2, errors: [] })
      expect(report.anchored_by).toBe('signature')
    })

    test('readers see that there was something, and filters find it no more', async () => {
      const entry = await remit.ledger.entry(orgId, 10)
      const query = { order: 'asc' as const, limit: 100 }
      const all = await remit.ledger.list(orgId, query)
      const ofAgent = await remit.ledger.list(orgId, { ...query, agent_id: before.agent_id! })

      expect(entry).toEqual({
        seq: 10,
        kind: before.kind,
        recorded_at: before.recorded_at,
        commitment: before.commitment,
        prev_hash: before.prev_hash,
        hash: before.hash,
        salt: null,
        payload: null,
        actor: null,
        agent_id: null,
        action: null,
        resource: null,
        decision: null,
        reason: null,
        data: null,
      })
      expect(all.data.map(({ seq }) => seq)).toContain(10)
      expect(ofAgent.data.map(({ seq }) => seq)).not.toContain(10)
      expect(await remit.ledger.proof(orgId, 10)).toMatch(/^c2sp\.org\/tlog-proof/)
    })

    test('exports have it as null and verify, whole and in parts', async () => {
      const { vkey } = await remit.ledger.head(orgId)
      for (const afterSeq of [undefined, 9]) {
        let text = ''
        for await (const part of await remit.ledger.export(orgId, { afterSeq })) text += part
        expect(text).toContain('"salt":null,"payload":null')
        const report = await verifyExport(text.trimEnd().split('\n'), { vkey, deep: true })
        expect(report).toMatchObject({ status: 'ok', redacted: 2 })
      }
    })

    test('a restart changes nothing, and writing goes on', async () => {
      const again = await createTestRemit({ url: remit.url, signingKey: remit.signingKey, clock })
      await append(again, orgId, [decisionDraft(1)])
      expect((await verifyDatabase(again.db, orgId)).status).toBe('ok')
      await again.close()
    })
  })

  test.each([
    ['an entry that is not there', [5, 900], /entry 900 is not in the ledger$/],
    [
      'an entry of the ledger itself',
      [0],
      /entry 0 has the kind ledger\.genesis: .+ cannot be erased$/,
    ],
    ['an entry that was erased before', [7], /entry 7 is already erased$/],
    ['no entry', [], /1 to 1000 entries/],
    [
      'several faults at once',
      [0, 5, 7, 901],
      /entry 0 has .+; entry 7 is already .+; entry 901 is not/,
    ],
  ])('refuses %s, and then erases nothing', async (_, seqs, message) => {
    const orgId = await makeLedger()
    await erase(orgId, [7])
    const { size } = await remit.ledger.head(orgId)

    await expect(async () => erase(orgId, seqs)).rejects.toThrow(message)

    expect((await rowOf(orgId, 5)).payload).not.toBeNull()
    expect((await remit.ledger.head(orgId)).size).toBe(size)
  })

  test('refuses the record of a report, without which the report could be changed unseen', async () => {
    const orgId = await makeLedger()
    const { size } = await remit.ledger.head(orgId)
    await append(remit, orgId, [{ ...decisionDraft(1), kind: 'report.generated' }])

    await expect(erase(orgId, [5, size])).rejects.toThrow(
      /has the kind report\.generated: it is the proof/,
    )
    for (const seq of [5, size]) expect((await rowOf(orgId, seq)).payload).not.toBeNull()
  })

  test('touches no other organization', async () => {
    const [mine, other] = [await makeLedger(), await makeLedger()]
    await erase(mine, [10])

    expect((await rowOf(other, 10)).payload).not.toBeNull()
  })

  test('modules clear what they know in the same transaction, or refuse all of it', async () => {
    const orgId = await makeLedger()
    const seen: (string | null)[] = []
    const eraser: Eraser = {
      erase: async (entries, { tx }) => {
        seen.push(...entries.map(({ payload }) => payload))
        await tx
          .updateTable('organization')
          .set({ settings: '{"x":1}' })
          .where('id', '=', orgId)
          .execute()
      },
    }
    const refusing: Eraser = {
      erase: () => Promise.reject(fail('invalid_request', 'still needed')),
    }
    const settings = () =>
      remit.db
        .selectFrom('organization')
        .select('settings')
        .where('id', '=', orgId)
        .executeTakeFirstOrThrow()
    const options = { seqs: [10], reason: REASON }

    await expect(
      eraseEntries({ ...remit, erasers: [eraser, refusing] }, orgId, options),
    ).rejects.toThrow('still needed')
    expect(await settings()).toEqual({ settings: '{}' })
    expect((await rowOf(orgId, 10)).payload).not.toBeNull()
    await eraseEntries({ ...remit, erasers: [eraser] }, orgId, options)

    expect(await settings()).toEqual({ settings: '{"x":1}' })
    expect(seen.at(-1)).toContain('"agent_id":"agent-0"')
  })

  describe('without its entry, or only half, is found', () => {
    const nothing = { salt: null, payload: null }
    const copies = { agent_id: null, actor_id: null, action: null, decision: null }

    test.each([
      ['all of it, and no entry', { ...nothing, ...copies }, '10 payload_missing'],
      ['the payload only', { ...copies, payload: null }, '10 commitment_mismatch'],
      ['the salt only', { ...copies, salt: null }, '10 commitment_mismatch'],
      ['the copies only', copies, '10 copy_mismatch'],
    ])('%s', async (_, change, first) => {
      const orgId = await makeLedger()

      const report = await afterAttack(
        remit.db,
        (tx) => setEntry(tx, orgId, 10, change),
        (tx) => verifyDatabase(tx, orgId),
      )

      const { seq, code } = report.first_invalid!
      expect([report.status, `${seq} ${code}`]).toEqual(['tampered', first])
    })

    test.each([
      ['a copy that stays', { actor_id: 'key_3' }, '10 copy_mismatch'],
      ['a payload that comes back without its salt', { payload: '{}' }, '10 commitment_mismatch'],
    ])('%s, though the entry is there', async (_, change, first) => {
      const orgId = await makeLedger()
      await erase(orgId, [10])

      const report = await afterAttack(
        remit.db,
        (tx) => setEntry(tx, orgId, 10, change),
        (tx) => verifyDatabase(tx, orgId),
      )

      const { seq, code } = report.first_invalid!
      expect([report.status, `${seq} ${code}`]).toEqual(['tampered', first])
    })
  })

  describe('of what pruning carried over', () => {
    let id: string
    /** The content of each `state.carried`, by the number of its original entry. */
    const carried = async (): Promise<Map<number, { seq: number; entry: CarriedHeader }>> => {
      const { data } = await remit.ledger.list(id, {
        kind: 'state.carried',
        order: 'asc',
        limit: 100,
      })
      return new Map(
        data.flatMap(({ seq, data: said }) => {
          const entry = said?.['entry'] as CarriedHeader | undefined
          return entry ? [[entry.seq, { seq, entry }]] : []
        }),
      )
    }
    const headerOfSeq = async (seq: number) => {
      const { entry } = (await carried()).get(seq)!
      return { ...entry, hashes: entryHash(headerOf({ org_id: id, ...entry })) === entry.hash }
    }
    const REGISTERED = { kind: 'agent.registered', payload: null, hashes: true }

    beforeAll(async () => {
      id = await makeLedger(3)
      await append(remit, id, [
        { ...personal(1), kind: 'agent.registered' },
        { ...personal(2), kind: 'agent.registered' },
        { ...personal(3), kind: 'approval.expired' },
      ])
      clock.advance(120_000)
      await append(remit, id, [decisionDraft(1)])
      clock.advance(401 * 24 * 60 * 60 * 1000)
      await erase(id, [3, 5])
      await prune(remit, clock, id)
    })

    test('only the header is left of what was erased before, if it said how things are', async () => {
      expect([...(await carried()).keys()]).toEqual([1, 2, 3, 4])
      expect(await headerOfSeq(3)).toMatchObject(REGISTERED)
    })

    test('it can be erased itself, and leaves its header', async () => {
      const copy = (await carried()).get(4)!

      await expect(erase(id, [4])).rejects.toThrow(/entry 4 was pruned/)
      expect((await erase(id, [copy.seq])).seqs).toEqual([copy.seq])

      expect(await headerOfSeq(4)).toMatchObject(REGISTERED)
      expect((await rowOf(id, copy.seq)).payload).toBeNull()
      expect(await verifyDatabase(remit.db, id, { deep: true })).toMatchObject({ status: 'ok' })
    })

    test('of a header there is nothing to erase', async () => {
      const header = (await carried()).get(4)!

      await expect(erase(id, [header.seq])).rejects.toThrow(/only a carried header/)
    })

    test('the next pruning carries the headers on', async () => {
      clock.advance(402 * 24 * 60 * 60 * 1000)
      await grow(remit, id, 1_100, clock)
      clock.advance(401 * 24 * 60 * 60 * 1000)
      await append(remit, id, [decisionDraft(1)])
      await prune(remit, clock, id)

      expect([...(await carried()).keys()]).toEqual([1, 2, 3, 4])
      for (const seq of [3, 4]) expect(await headerOfSeq(seq)).toMatchObject(REGISTERED)
      expect(await verifyDatabase(remit.db, id, { deep: true })).toMatchObject({ status: 'ok' })
    })
  })

  test('an entry goes with what an interrupted pruning carried over of it, whichever is named', async () => {
    for (const named of [4, -1]) {
      const id = await makeLedger(4)
      await append(remit, id, [{ ...personal(1), kind: 'agent.registered' }])
      const { payload, ...header } = await remit.db
        .selectFrom('ledger_entry')
        .select(['seq', 'recorded_at', 'kind', 'prev_hash', 'hash', 'salt', 'payload'])
        .where('org_id', '=', id)
        .where('seq', '=', 4)
        .executeTakeFirstOrThrow()
      const entry = { ...header, payload: JSON.parse(payload!) as object }
      const actor = { type: 'system', id: 'remit' }
      const [receipt] = await append(remit, id, [{ kind: 'state.carried', actor, data: { entry } }])

      const { seqs } = await erase(id, [named < 0 ? receipt!.seq : named])

      expect(seqs).toEqual([4, receipt!.seq])
    }
  })

  test.runIf(dialect === 'sqlite')(
    'leaves no trace in the file or its log, among neighbours and in indexes',
    async () => {
      const path = remit.url.slice('sqlite:'.length)
      const bytes = () =>
        ['', '-wal']
          .map((suffix) => path + suffix)
          .filter((file) => existsSync(file))
          .map((file) => readFileSync(file, 'latin1'))
          .join()
      const id = await makeLedger(203)
      const seqs: number[] = []
      // Short ones, and some that need pages of their own.
      for (const n of [1, 40, 700, 3_000]) {
        const [receipt] = await append(remit, id, [personal(n)])
        seqs.push(receipt!.seq)
        await grow(remit, id, receipt!.seq + 40, clock)
      }
      expect(bytes().includes(SECRET)).toBe(true)

      const { log_emptied } = await erase(id, seqs)

      expect(log_emptied).toBe(true)
      expect(bytes().includes(SECRET)).toBe(false)
    },
  )
})
