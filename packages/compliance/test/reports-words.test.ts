import { REPORT_FORMATS, CSV_PARTS } from '@remit/contract'
import { readyReport } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CATALOGUES } from '../src/catalogue/catalogue.ts'
import { decision, day } from './support/entries.ts'
import { goodLedger } from './support/good-ledger.ts'
import { createReports, play, QUARTER } from './support/reports.ts'
import type { ReportsApi } from './support/reports.ts'

// A report shows evidence: whether somebody conforms to something is for others to say, and no figure sums it up.
const NEVER =
  /\b(?:compliant|non-compliant|certified|conforms|score|audit passed|percentage)\b|%[^.]{0,12}\bcontrols\b/i

describe.each([...CATALOGUES.keys()])('a report on %s', (framework) => {
  let api: ReportsApi
  const ids: string[] = []
  beforeAll(async () => {
    api = await createReports()
    const body = { framework, ...QUARTER }
    await play(api, [...goodLedger(), decision(day(15, 0.5))])
    api.clock.set('2026-04-02T08:00:00.000Z')
    ids.push((await readyReport(api, body)).id)
  })
  afterAll(() => api.remit.close())

  test.each(REPORT_FORMATS)('as %s claims nothing and sums up nothing', async (format) => {
    for (const part of format === 'csv' ? CSV_PARTS : [null]) {
      const query = { format, ...(part && { part }) }
      const answer = await api.call('getReport', { params: { id: ids[0]! }, query })
      expect(answer.status).toBe(200)
      // The layout of a page is not part of its content.
      const text = (await answer.text()).replace(/<style>.*?<\/style>/s, '')
      expect(text.length).toBeGreaterThan(500)
      expect(NEVER.exec(text)).toBeNull()
    }
  })
})
