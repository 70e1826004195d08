import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dialectOf } from '../../src/db/portable.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import type { VerifyReport } from '../../src/ledger/verify/database-report.ts'
import { createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAttack, dropGuards, setEntry } from '../support/attacker.ts'
import type { Attacked } from '../support/attacker.ts'
import { append, decisionDraft, grow } from '../support/drafts.ts'

/** Two pages and a bit. */
const SIZE = 2_010

describe.each(fullDialects())('a row that pages by number pass over, on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  let orgId = ''
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    orgId = (await remit.organization()).id
    await grow(remit, orgId, SIZE, clock)
    await dropGuards(remit.db)
  })
  afterAll(() => remit.close())

  const found = (attack: (tx: Attacked) => Promise<unknown>) =>
    afterAttack(remit.db, attack, (tx) => verifyDatabase(tx, orgId))
  const firstOf = ({ status, first_invalid: first }: VerifyReport) =>
    `${status} ${first?.seq} ${first?.code}`

  /** A table without the key that keeps numbers apart. */
  const dropKey = async (tx: Attacked) => {
    if (dialectOf(tx) === 'postgres') {
      await sql`alter table ledger_entry drop constraint ledger_entry_pkey`.execute(tx)
      return
    }
    await sql`create table loose as select * from ledger_entry`.execute(tx)
    await sql`drop table ledger_entry`.execute(tx)
    await sql`alter table loose rename to ledger_entry`.execute(tx)
  }
  const copy = (tx: Attacked, from: number, to: unknown) =>
    sql`insert into ledger_entry select org_id, ${sql.lit(to)}, prev_hash, hash, recorded_at, kind,
      commitment, salt, payload, agent_id, actor_id, action, 'deny' from ledger_entry
      where org_id = ${orgId} and seq = ${from}`.execute(tx)

  test('is none where nobody was', async () => {
    expect(firstOf(await found(() => Promise.resolve()))).toBe('ok undefined undefined')
  })

  // The last of a page, the one before, and the last of all.
  test.each([999, 998, 1999, SIZE - 1])('is found where it doubles entry %i', async (seq) => {
    const report = await found(async (tx) => {
      await dropKey(tx)
      await copy(tx, seq, seq)
    })

    expect(report.status).toBe('tampered')
    expect(report.first_invalid?.seq).toBeGreaterThanOrEqual(seq)
    expect(report.first_invalid?.seq).toBeLessThanOrEqual(seq + 1)
    expect(report.errors.map(({ code }) => code)).toContain('out_of_order')
  })

  test('is found where thousands double one entry', async () => {
    const report = await found(async (tx) => {
      await dropKey(tx)
      await copy(tx, 7, 7)
      for (let i = 0; i < 11; i++) await copy(tx, 7, 7)
    })

    expect(report.status).toBe('tampered')
    expect(report.checked.to_seq).toBe(SIZE - 1)
    expect(report.first_errors.map(({ code }) => code)).toContain('out_of_order')
  })

  test.each(dialect === 'sqlite' ? ["'zzz'", "x'00ff'"] : [])(
    'is found where its number is none: %s',
    async (value) => {
      const report = await found((tx) =>
        sql`insert into ledger_entry select org_id, ${sql.raw(value)}, prev_hash, hash, recorded_at,
          kind, commitment, salt, payload, agent_id, actor_id, action, decision from ledger_entry
          where org_id = ${orgId} and seq = 7`.execute(tx),
      )

      expect(firstOf(report)).toBe(`tampered ${SIZE} beyond_head`)
      expect(report.errors[0]?.detail).toBe('entries with a seq that is not a number')
    },
  )

  test.runIf(dialect === 'sqlite')('is found where its number is between two', async () => {
    const seqs: number[] = []
    const report = await afterAttack(
      remit.db,
      (tx) => copy(tx, 7, 7.5),
      (tx) => verifyDatabase(tx, orgId, { onEntry: ({ seq }) => void seqs.push(seq) }),
    )

    expect(firstOf(report)).toBe('tampered 8 out_of_order')
    expect(seqs).toEqual(Array.from({ length: SIZE }, (_, seq) => seq))
  })

  test('is found where its number is beyond the head', async () => {
    const report = await found((tx) => copy(tx, 7, SIZE + 1_000))

    expect(firstOf(report)).toBe(`tampered ${SIZE} beyond_head`)
    expect(report.errors[0]?.detail).toBe(`entries up to seq ${SIZE + 1_000}`)
  })

  test('errors at the end of the walk are told before a hundred later ones', async () => {
    const report = await found(async (tx) => {
      const nothing = { agent_id: null, actor_id: null, action: null, decision: null }
      await setEntry(tx, orgId, 20, { payload: null, salt: null, ...nothing })
      for (let seq = 100; seq < 250; seq++) await setEntry(tx, orgId, seq, { payload: null })
    })

    expect(report.error_count).toBeGreaterThan(150)
    expect(report.errors).toHaveLength(100)
    expect(report.errors[0]).toMatchObject({ seq: 20, code: 'payload_missing' })
    expect(report.first_errors).toContainEqual({ seq: 20, code: 'payload_missing' })
  })
})

describe.each(fullDialects())('payloads that do not fit into a page, on %s', (dialect) => {
  let remit: TestRemit
  let orgId = ''
  beforeAll(async () => {
    remit = await createTestRemit({ dialect })
    orgId = (await remit.organization()).id
    const large = { ...decisionDraft(1), data: { text: '漢'.repeat(60_000) } }
    const small = decisionDraft(2)
    await append(remit, orgId, [small, large, large, small, small, large])
    await dropGuards(remit.db)
  })
  afterAll(() => remit.close())

  test('are verified, and given to who listens', async () => {
    const lengths: number[] = []
    const onEntry = ({ payload }: { payload: string | null }) =>
      void lengths.push(payload?.length ?? -1)

    expect(await verifyDatabase(remit.db, orgId, { onEntry })).toMatchObject({ status: 'ok' })
    const large = lengths.flatMap((length, seq) => (length > 60_000 ? [seq] : []))
    expect([lengths.length, ...large]).toEqual([9, 4, 5, 8])
  })

  test.each([
    ['changed', (text: string) => text.replace('漢', '漠')],
    ['emptied', () => ''],
  ])('are found when they are %s', async (_name, change) => {
    const report = await afterAttack(
      remit.db,
      async (tx) => {
        const row = await tx
          .selectFrom('ledger_entry')
          .select('payload')
          .where('org_id', '=', orgId)
          .where('seq', '=', 5)
          .executeTakeFirstOrThrow()
        await setEntry(tx, orgId, 5, { payload: change(row.payload ?? '') })
      },
      (tx) => verifyDatabase(tx, orgId),
    )

    expect(report.status).toBe('tampered')
    expect(report.first_invalid).toEqual({ seq: 5, code: 'commitment_mismatch' })
  })
})
