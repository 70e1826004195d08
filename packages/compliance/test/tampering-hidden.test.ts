import { SYSTEM } from '@remit/core/caller'
import { OPERATOR } from '@remit/core/orgs'
import {
  apiOf,
  createClock,
  createTestRemit,
  handMade,
  prune,
  readyReport,
  someDialects,
} from '@remit/testing'
import type { Api, TestRemit } from '@remit/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import compliance from '../src/index.ts'
import { Attacker, rehashed, relinked } from './support/attacker.ts'

const GONE = {
  payload: null,
  salt: null,
  agent_id: null,
  actor_id: null,
  action: null,
  decision: null,
}

describe.each(someDialects())('an attacker who hides a change on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  let api: Api
  let he: Attacker

  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock, modules: [compliance] })
    await Attacker.dropGuards(remit.db)
  })
  afterAll(() => remit.close())
  beforeEach(async () => {
    clock.set('2026-01-05T08:00:00.000Z')
    api = apiOf(remit, await remit.organization())
    he = new Attacker(remit.db, api.org.id)
  })

  const write = (kind: string, count: number) => {
    const entries = Array.from({ length: count }, (_, i) => {
      const key = { id: `key_${i}`, role: 'read', created_at: '2026-01-05T08:00:00.000Z' }
      return handMade({ kind, actor: SYSTEM, data: { key } })
    })
    return remit.writer.work(api.org.id, OPERATOR, () =>
      Promise.resolve({ entries, reply: () => undefined }),
    )
  }
  const reported = async (from: string, to: string) =>
    (await readyReport(api, { framework: 'soc2', from, to })).content

  describe('behind more errors than are reported', () => {
    beforeEach(async () => {
      await write('key.created', 5)
      clock.set('2026-02-01T08:00:00.000Z')
      await write('key.created', 150)
    })

    const january = () => reported('2026-01-01', '2026-01-31')
    const flood = async () => {
      for (let seq = 20; seq < 150; seq++) await he.set(seq, { payload: null })
    }

    test('finds that a payload which is gone is found all the same', async () => {
      const { seq } = (await he.entries()).findLast(({ recorded_at: at }) => at < '2026-02')!
      await he.set(seq, GONE)
      await flood()

      expect((await january()).ledger).toMatchObject({ verified: false, first_bad_seq: seq })
      expect(await api.ok('verifyLedger', { body: {} })).toMatchObject({
        valid: false,
        first_invalid: { seq, code: 'payload_missing' },
      })
    })

    test('shows the entries of the findings as evidence', async () => {
      const wrong = (await he.checkpoints()).find(({ size }) => size > 2)!
      await he.set(3, GONE)
      await remit.db
        .updateTable('ledger_checkpoint')
        .set({ note: wrong.note.replace(/^\S+$/m, 'elsewhere') })
        .where('org_id', '=', api.org.id)
        .where('size', '=', wrong.size)
        .execute()
      const report = await readyReport(api, {
        framework: 'soc2',
        from: '2026-01-01',
        to: '2026-01-31',
      })

      for (const check of ['LED-1', 'LED-7']) {
        const finding = report.content.findings.find((one) => one.check === check)!
        const { data } = await api.ok('listReportEvidence', {
          params: { id: report.id },
          query: { check },
        })
        expect(finding.seqs.length, check).toBeGreaterThan(0)
        expect(data.map(({ seq }) => seq)).toEqual(finding.seqs)
      }
    })

    test('does not affect an unchanged period', async () => {
      const before = await january()
      await flood()
      expect(await january()).toEqual(before)
    })

    test('finds that a forged report is found all the same', async () => {
      for (let i = 0; i < 4; i++) await january()
      const columns = sql.raw(`status, framework, period_from, period_to, scope, requested_at,
        requested_by, requested_person, null, null, held_until, attempts, failure, generated_at,
        content, csv, content_sha256, csv_sha256, 2, null, summary, verified, evaluation`)
      const copy = (id: string) => sql`insert into compliance_report select org_id, ${sql.lit(id)},
        ${columns} from compliance_report where org_id = ${api.org.id} order by id limit 1`
      await copy('rpt_00000000000000000000000000').execute(remit.db)
      await sql`update compliance_report set csv = csv || 'x' where org_id = ${api.org.id}
        and record_seq > 2`.execute(remit.db)

      const found = await api.ok('verifyLedger', { body: {} })
      expect(found.first_invalid).toEqual({ seq: 2, code: 'report_unrecorded' })
      expect(found).toMatchObject({ error_count: 5, reports: { checked: 5, mismatched: 5 } })
      expect((await january()).ledger).toMatchObject({ verified: false })
    })
  })

  describe('by where the period ends', () => {
    const moved = '2026-02-01T00:00:00.000Z'
    let last: number

    beforeEach(async () => {
      await write('key.created', 5)
      clock.set('2026-01-20T08:00:00.000Z')
      await write('key.created', 3)
      clock.set('2026-01-25T08:00:00.000Z')
      await write('key.created', 4)
      clock.set('2026-02-03T08:00:00.000Z')
      await write('key.created', 5)
      last = (await he.entries()).findLast(({ recorded_at: at }) => at < '2026-02')!.seq
    })

    test.each<[string, () => Promise<void>]>([
      [
        'the time of the last entries alone',
        async () => {
          for (let seq = last - 3; seq <= last; seq++) await he.set(seq, { recorded_at: moved })
        },
      ],
      [
        'their hashes too',
        async () => {
          const rows = await he.entries()
          for (let seq = last - 3; seq <= last; seq++) {
            const { recorded_at, hash } = rehashed({ ...rows[seq]!, recorded_at: moved })
            await he.set(seq, { recorded_at, hash })
          }
        },
      ],
      [
        'everything from there on',
        async () => {
          const rows = await he.entries()
          for (let seq = last - 3; seq <= last; seq++)
            rows[seq] = { ...rows[seq]!, recorded_at: moved }
          await he.replace(relinked(rows))
          await he.repairHead('left')
        },
      ],
      [
        'the end, for an entry of his own behind it',
        async () => {
          const rows = await he.entries()
          const own = { ...rows[last - 2]!, recorded_at: moved, prev_hash: rows[last - 3]!.hash }
          await he.replace([...rows.slice(0, last - 2), rehashed(own)])
        },
      ],
    ])('finds that changing %s is found', async (_, change) => {
      expect((await reported('2026-01-01', '2026-01-31')).ledger.verified).toBe(true)
      await change()

      const { ledger, summary } = await reported('2026-01-01', '2026-01-31')

      expect(ledger.verified).toBe(false)
      expect(summary).toMatchObject({ satisfied: 0, not_evidenced: 0 })
    })
  })

  describe('in entries about pruned ones', () => {
    beforeEach(async () => {
      clock.set('2026-01-06T08:00:00.000Z')
      await write('key.created', 5)
      clock.set('2027-02-01T08:00:00.000Z')
      await write('key.created', 5)
      clock.set('2027-03-01T08:00:00.000Z')
      await write('key.created', 1)
      clock.set('2028-06-01T08:00:00.000Z')
      await prune(api, clock, { before: Date.parse('2027-01-15') })
      await write('key.created', 3)
    })

    const february = () => reported('2027-02-01', '2027-02-28')
    const carried = async () =>
      (await he.entries()).findLast(({ kind }) => kind === 'state.carried')!
    const record = async () => (await he.entries()).find(({ kind }) => kind === 'ledger.pruned')!

    test('finds nothing wrong without a change', async () => {
      expect((await february()).ledger).toMatchObject({ verified: true, first_bad_seq: null })
    })

    test.each<[string, () => Promise<number>]>([
      [
        'what was carried over is changed',
        async () => {
          const { seq, payload } = await carried()
          await he.set(seq, { payload: payload!.replace('"role":"read"', '"role":"admin"') })
          return seq
        },
      ],
      [
        'what was carried over is deleted',
        async () => {
          const { seq } = await carried()
          await he.remove(seq, seq + 1)
          return seq
        },
      ],
      [
        'the record of the pruning is changed',
        async () => {
          const { seq, payload } = await record()
          await he.set(seq, { payload: payload!.replace('"retention"', '"nothing"') })
          // So nothing tells of what is gone, from the first entry on.
          return (await he.entries())[0]!.seq
        },
      ],
    ])('finds that %s', async (_name, attack) => {
      const seq = await attack()
      const { ledger, summary } = await february()

      expect(ledger).toMatchObject({ verified: false, first_bad_seq: seq })
      expect(summary).toMatchObject({ satisfied: 0, not_evidenced: 0 })
    })

    test('is not affected by rows beyond the head', async () => {
      const before = await february()
      const columns = sql.raw('prev_hash, hash, recorded_at, kind, commitment, salt')
      const copies = sql.raw('payload, agent_id, actor_id, action, decision')
      const numbers = dialect === 'sqlite' ? ['9000', "'zzz'"] : ['9000']
      for (const seq of numbers)
        await sql`insert into ledger_entry select org_id, ${sql.raw(seq)}, ${columns}, ${copies}
          from ledger_entry where org_id = ${api.org.id} and kind = 'state.carried'
          order by seq limit 1`.execute(remit.db)

      expect(await february()).toEqual(before)
      expect(await api.ok('verifyLedger', { body: {} })).toMatchObject({ valid: false })
    })
  })
})
