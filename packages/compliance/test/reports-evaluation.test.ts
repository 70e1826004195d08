import { readyReport, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createReports } from './support/reports.ts'
import type { ReportsApi } from './support/reports.ts'

describe.each(someDialects())(
  'a report of a server that is tried without a license, on %s',
  (dialect) => {
    let tried: ReportsApi
    let licensed: ReportsApi
    beforeAll(async () => {
      tried = await createReports({ dialect, evaluation: true })
      const { url, signingKey } = tried.remit
      licensed = { ...(await createReports({ url, signingKey })), org: tried.org }
      for (const { clock } of [tried, licensed]) clock.advance(86_400_000)
    })
    afterAll(async () => {
      await licensed.remit.close()
      await tried.remit.close()
    })

    const key = () => tried.org.key
    const made = (api: ReportsApi) => readyReport(api.as(tried.org), { framework: 'soc2' })
    const text = async (id: string, format: string) =>
      (await tried.call('getReport', { params: { id }, query: { format }, key: key() })).text()

    test('is marked in every format, even if the server has a license later', async () => {
      const { id, evaluation } = await made(tried)
      const read = await licensed.call('getReport', { params: { id }, key: key() })
      const csv = await tried.call('getReport', { params: { id }, query: { format: 'csv' } })

      expect(evaluation).toBe(true)
      expect(await read.json()).toMatchObject({ evaluation: true })
      expect(csv.headers.get('x-remit-evaluation')).toBe('true')
      expect(await text(id, 'html')).toContain('<strong>Evaluation.</strong>')
      expect(await text(id, 'oscal')).toContain('"name":"evaluation"')
    })

    test('has the same content as that of a licensed server, which has no mark', async () => {
      const [one, other] = [await made(tried), await made(licensed)]
      const csv = await tried.call('getReport', {
        params: { id: other.id },
        query: { format: 'csv' },
      })

      expect(other.evaluation).toBe(false)
      expect(other.content_sha256).toBe(one.content_sha256)
      expect(other.csv_sha256).toBe(one.csv_sha256)
      expect(csv.headers.get('x-remit-evaluation')).toBeNull()
      expect(await text(other.id, 'html')).not.toContain('Evaluation.')
      expect(await text(other.id, 'oscal')).not.toContain('"name":"evaluation"')
    })
  },
)
