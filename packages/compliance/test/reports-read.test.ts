import { hash } from 'node:crypto'
import type { ReadyReport } from '@remit/contract'
import { someDialects } from '@remit/testing'
import type { Ok } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EVIDENCE_KINDS } from '../src/facts/evidence-kinds.ts'
import { parseCsv, readTable } from './support/csv.ts'
import { createPlayed, createReports, QUARTER } from './support/reports.ts'
import type { ReportsApi } from './support/reports.ts'

describe.each(someDialects())('reports on %s', (dialect) => {
  let api: ReportsApi
  let passes = 0
  const reports: ReadyReport[] = []
  beforeAll(async () => {
    api = await createPlayed({
      dialect,
      jobs: (inline) => ({
        ...inline,
        evidence(...asked) {
          passes += 1
          return inline.evidence(...asked)
        },
      }),
    })
    for (const framework of ['soc2', 'eu_ai_act', 'nist_ai_rmf']) {
      const report = await api.ok('createReport', { body: { framework, ...QUARTER } })
      if (report.status === 'ready') reports.push(report)
      api.clock.advance(1000)
    }
  })
  afterAll(() => api.remit.close())

  const first = (): ReadyReport => reports[0]!
  const get = (id: string, query = {}) => api.call('getReport', { params: { id }, query })
  const csv = async (part: string): Promise<string> =>
    (await get(first().id, { format: 'csv', part })).text()

  describe('GET /v1/compliance/reports', () => {
    test('lists them, newest first, with their summaries', async () => {
      const { data, next_cursor } = await api.ok('listReports')

      expect(data.map(({ id }) => id)).toEqual(reports.map(({ id }) => id).toReversed())
      expect(next_cursor).toBeNull()
      expect(data.at(-1)).toEqual({
        id: first().id,
        status: 'ready',
        framework: 'soc2',
        period: first().content.period,
        requested_at: '2026-04-02T08:00:00.000Z',
        generated_at: first().generated_at,
        summary: first().content.summary,
        content_sha256: first().content_sha256,
        verified: true,
      })
    })

    test('goes on where a page ended', async () => {
      const one = await api.ok('listReports', { query: { limit: 2 } })
      const two = await api.ok('listReports', { query: { limit: 2, cursor: one.next_cursor! } })

      expect([...one.data, ...two.data].map(({ id }) => id)).toEqual(
        reports.map(({ id }) => id).toReversed(),
      )
      expect(two.next_cursor).toBeNull()
    })

    test.each(['x', 'rpt_', "rpt_' or 1=1"])('refuses the cursor %s', async (cursor) => {
      const { errors } = await api.refusal('listReports', { query: { cursor } })
      expect(errors?.[0]?.path).toBe('cursor')
    })
  })

  describe('GET /v1/compliance/reports/{id}', () => {
    test('answers the same bytes as the request that made it, to every role that reads', async () => {
      const body = { framework: 'soc2', ...QUARTER }
      const made = await (await api.call('createReport', { body })).text()
      const { id } = JSON.parse(made) as ReadyReport
      const key = await api.remit.key(api.org.id, 'read')

      expect(await (await api.call('getReport', { params: { id }, key })).text()).toBe(made)
    })

    test('names the digest of each format', async () => {
      for (const query of [
        {},
        { format: 'csv' },
        { format: 'csv', part: 'metrics', bom: 'true' },
      ]) {
        const response = await get(first().id, query)
        const bytes = Buffer.from(await response.arrayBuffer())
        expect(response.headers.get('content-digest')).toBe(
          `sha-256=:${hash('sha256', bytes, 'base64')}:`,
        )
        expect(response.headers.get('etag')).toBe(`"${first().content_sha256}"`)
      }
    })

    test('as CSV is a file of one table', async () => {
      const response = await get(first().id, { format: 'csv' })
      const text = await response.text()
      const rows = readTable(text)

      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
      expect(response.headers.get('content-disposition')).toBe(
        `attachment; filename="remit-soc2-2026-01-01_2026-04-01-${first().id}.csv"`,
      )
      expect(rows.map(({ control_id, status }) => [control_id, status])).toEqual(
        first().content.controls.map(({ id, status }) => [id, status]),
      )
      expect(rows[0]).toMatchObject({
        framework: 'soc2',
        period_from: '2026-01-01T00:00:00.000Z',
        ledger_entries: String(first().content.ledger.entries),
        ledger_hash: first().content.ledger.hash_at_last,
        ledger_verified: 'true',
        content_sha256: first().content_sha256,
      })
      expect(text).not.toContain(first().id)
    })

    test('has every part as a table, with a byte order mark only on request', async () => {
      const { findings, metrics, controls } = first().content
      expect(readTable(await csv('findings'))).toHaveLength(findings.length)
      expect(readTable(await csv('metrics')).map((row) => row['metric_id'])).toEqual(
        metrics.map(({ id }) => id),
      )
      expect(readTable(await csv('evidence'))).toHaveLength(
        controls.flatMap(({ evidence }) => evidence).length,
      )
      const marked = await (await get(first().id, { format: 'csv', bom: 'true' })).arrayBuffer()
      const plain = await (await get(first().id, { format: 'csv' })).arrayBuffer()
      expect(Buffer.from(marked)).toEqual(Buffer.from(`\uFEFF${Buffer.from(plain).toString()}`))
    })

    test('writes computed values bare, and every text in quotes', async () => {
      const text = await csv('evidence')
      const [columns = []] = parseCsv(text)
      const cells = text.split('\r\n')[1]?.match(/"(?:[^"]|"")*"|(?<=,)[^",]*/g) ?? []
      const isComputed = /^(?:operated|evidence_count|.*_seq|ledger_entries|ledger_verified)$/
      const wrong = columns.filter((name, i) => {
        const cell = cells[i] ?? ''
        return cell !== '' && cell.startsWith('"') === isComputed.test(name)
      })

      expect(cells).toHaveLength(columns.length)
      expect(wrong).toEqual([])
    })

    test.each([
      [{ format: 'pdf' }, 'format'],
      [{ format: 'csv', part: 'all' }, 'part'],
      [{ format: 'csv', bom: '1' }, 'bom'],
      [{ part: 'findings' }, 'part'],
      [{ format: 'json', bom: 'true' }, 'bom'],
      [{ fromat: 'csv' }, 'fromat'],
    ])('refuses the query %j', async (query, path) => {
      const params = { id: first().id }
      const { errors } = await api.refusal('getReport', { params, query })
      expect(errors?.[0]?.path).toBe(path)
    })

    test("another organization's report is as unknown as one that never was", async () => {
      const other = api.as(await api.remit.organization('team'))
      const never = `rpt_${'0'.repeat(26)}`
      for (const name of ['getReport', 'listReportEvidence'] as const) {
        const query = name === 'getReport' ? {} : { check: 'DEC-1' }
        const [foreign, unknown] = [
          await other.refusal(name, { params: { id: first().id }, query }),
          await other.refusal(name, { params: { id: never }, query }),
        ]
        expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
        expect(foreign.code).toBe('report_not_found')
      }
      expect((await other.ok('listReports')).data).toEqual([])
    })
  })

  describe('GET /v1/compliance/reports/{id}/evidence', () => {
    const all = async (
      query: { control?: string; check?: string },
      limit: number,
      id = first().id,
    ) => {
      const seqs: number[] = []
      let cursor: string | null = null
      do {
        const more: Record<string, string | number> = {
          ...query,
          limit,
          ...(cursor !== null && { cursor }),
        }
        const params = { id }
        const page: Ok<'listReportEvidence'> = await api.ok('listReportEvidence', {
          params,
          query: more,
        })
        expect(page.data.length).toBeLessThanOrEqual(limit)
        seqs.push(...page.data.map(({ seq }) => seq))
        cursor = page.next_cursor
      } while (cursor !== null)
      return seqs
    }

    test('pages through every entry behind a control, each once and in order', async () => {
      const control = first().content.controls.find(({ id }) => id === 'CC6.2')!
      const seqs = await all({ control: 'CC6.2' }, 5)
      const inOrder = [...new Set(seqs)].toSorted((a, b) => a - b)

      expect(seqs).toEqual(inOrder)
      expect(seqs).toEqual(await all({ control: 'CC6.2' }, 1000))
      for (const { sample, count } of control.evidence) {
        expect(seqs).toEqual(expect.arrayContaining(sample))
        expect(seqs.length).toBeGreaterThanOrEqual(count)
      }
    })

    test('has as many entries behind a control as the report counts', async () => {
      const found = reports.flatMap(({ id: report, content }) =>
        content.controls
          .filter(({ evidence }) => evidence.length === 1 && evidence[0]!.count > 4)
          .map(({ id: control, evidence }) => ({ report, control, count: evidence[0]!.count })),
      )
      const { report, control, count } = found[0]!

      expect(await all({ control }, 3, report)).toHaveLength(count)
    })

    test('reads the ledger once for all kinds of a control and all of its pages', async () => {
      passes = 0
      const { evidence } = first().content.controls.find(({ id }) => id === 'CC6.3')!
      const seqs = await all({ control: 'CC6.3' }, 4)

      expect(evidence.length).toBeGreaterThan(2)
      expect(seqs.length).toBeGreaterThan(12)
      expect(passes).toBe(1)
      expect(await all({ control: 'CC6.3' }, 1000)).toEqual(seqs)
      expect(passes).toBe(1)
    })

    test('goes on from a cursor in a process that has seen none of it', async () => {
      const query = { control: 'CC6.3', limit: 4 }
      const params = { id: first().id }
      const { next_cursor } = await api.ok('listReportEvidence', { params, query })
      const other = await createReports({
        url: api.remit.url,
        signingKey: api.remit.signingKey,
        clock: api.clock,
      })
      const again = { params, query: { ...query, cursor: next_cursor! }, key: api.org.key }
      const [here, there] = [
        await api.ok('listReportEvidence', again),
        await other.ok('listReportEvidence', again),
      ]
      await other.remit.close()

      expect(there).toEqual(here)
      expect(there.data).toHaveLength(4)
    })

    test('has the kind and time of each entry', async () => {
      const params = { id: first().id }
      const query = { control: 'CC7.2', limit: 1 }
      const { data } = await api.ok('listReportEvidence', { params, query })
      const [entry] = data
      const { kind, recorded_at } = await api.remit.ledger.entry(api.org.id, entry!.seq)

      expect(entry).toEqual({ seq: entry!.seq, kind, recorded_at })
    })

    test('has no entries for a manual control, and the failing entries of a check', async () => {
      expect(await all({ control: 'CC1.1' }, 10)).toEqual([])
      expect(await all({ check: 'DEC-3' }, 10)).toEqual([])
    })

    test.each([
      [{}, 'control'],
      [{ control: 'CC6.2', check: 'DEC-1' }, 'control'],
      [{ control: 'Art. 12(1)' }, 'control'],
      [{ control: 'PI1.2' }, 'control'],
      [{ control: '__proto__' }, 'control'],
      [{ check: 'DEC-99' }, 'check'],
      [{ check: 'DEC-1', cursor: '-1' }, 'cursor'],
      [{ check: 'DEC-1', limit: '0' }, 'limit'],
    ])('refuses the query %j', async (query, path) => {
      const params = { id: first().id }
      const { errors } = await api.refusal('listReportEvidence', { params, query })
      expect(errors?.[0]?.path).toBe(path)
    })

    test('requires either a control or a check', async () => {
      for (const query of [{}, { control: 'CC6.2', check: 'DEC-1' }]) {
        const params = { id: first().id }
        const { detail } = await api.refusal('listReportEvidence', { params, query })
        expect(detail).toBe('control: requires either control or check')
      }
    })
  })

  test('evidence in a report is of kinds that the catalogue knows, 25 of each at most', () => {
    for (const { content } of reports) {
      for (const { evidence } of content.controls) {
        for (const { kind, sample } of evidence) {
          expect(EVIDENCE_KINDS.has(kind)).toBe(true)
          expect(sample.length).toBeLessThanOrEqual(25)
        }
      }
    }
  })
})
