import type { ReadyReport } from '@remit/contract'
import { createApi, createClock, prune, readyReport, someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import compliance from '../src/index.ts'
import { day, decision, policy } from './support/entries.ts'
import { createPlayed, play, QUARTER } from './support/reports.ts'

/** The evidence requests for each report: entries that fail a check, and those behind a control. */
const ASKED = [{ check: 'CHG-2' }, { control: 'CC8.1' }]

describe.each(someDialects())('the evidence of a report after a pruning, on %s', (dialect) => {
  const clock = createClock('2025-06-01T00:00:00.000Z')
  let api: Api
  let before: ReadyReport
  let after: ReadyReport
  let cut: number
  let listed: number[][]
  beforeAll(async () => {
    api = await createApi({ dialect, clock, modules: [compliance] })
    await play({ ...api, clock }, [
      policy(day(3), 'pol_1'),
      ...Array.from({ length: 20 }, (_, i) => decision(day(5 + i))),
      policy(day(40), 'pol_2'),
    ])
    clock.set('2026-04-02T08:00:00.000Z')
    before = await readyReport(api, { framework: 'soc2', ...QUARTER })
    listed = await Promise.all(ASKED.map((query) => seqsOf(before, query)))
    // Of the quarter, the first day of a policy goes and the other one stays.
    clock.set(new Date(Date.parse(day(30)) + 400 * 86_400_000).toISOString())
    await play({ ...api, clock }, [decision(new Date(clock.now()).toISOString())])
    cut = (await prune(api, clock)).plan.cut
    after = await readyReport(api, { framework: 'soc2', ...QUARTER })
  }, 300_000)
  afterAll(() => api.remit.close())

  const seqsOf = async ({ id }: ReadyReport, query: object): Promise<number[]> => {
    const { data } = await api.ok('listReportEvidence', { params: { id }, query: { ...query } })
    return data.map(({ seq }) => seq)
  }

  test('is 410, and no part of it is given as if it were all', async () => {
    const finding = before.content.findings.find(({ check }) => check === 'CHG-2')
    expect(finding).toMatchObject({ count: 2, seqs: listed[0] })
    expect(finding!.seqs[0]).toBeLessThan(cut)

    for (const query of ASKED) {
      const params = { id: before.id }
      const refused = await api.refusal('listReportEvidence', { params, query })
      expect(refused).toMatchObject({ code: 'ledger_pruned', status: 410 })
      expect(refused.detail).toContain(`the ledger now starts at entry ${cut}`)
    }
  })

  test('is still refused for an invalid request', async () => {
    const params = { id: before.id }
    const query = { check: 'CHG-99' }
    expect((await api.refusal('listReportEvidence', { params, query })).status).toBe(400)
  })

  test('of a later report is the remaining evidence', async () => {
    const [whole = []] = listed
    expect(await seqsOf(after, { check: 'CHG-2' })).toEqual(whole.filter((seq) => seq >= cut))
  })

  test('leaves the report as it was', async () => {
    expect(await api.ok('getReport', { params: { id: before.id } })).toEqual(before)
  })
})

test('a concurrent pruning is noticed too', async () => {
  let cutNow: (() => Promise<unknown>) | null = null
  const api = await createPlayed({
    jobs: (inline) => ({
      ...inline,
      async evidence(...asked) {
        const found = await inline.evidence(...asked)
        await cutNow?.()
        return found
      },
    }),
  })
  const { id } = await readyReport(api, { framework: 'soc2', ...QUARTER })
  cutNow = async () => {
    const { hash, recorded_at, frontier, vkey } = await api.remit.ledger.head(api.org.id)
    const row = { org_id: api.org.id, size: 9, hash, recorded_at, frontier, vkey }
    await api.remit.db
      .insertInto('ledger_cut')
      .values(row)
      .onConflict((c) => c.doNothing())
      .execute()
  }

  const query = { control: 'CC6.2' }
  const refused = await api.refusal('listReportEvidence', { params: { id }, query })
  await api.remit.close()

  expect(refused.code).toBe('ledger_pruned')
})
