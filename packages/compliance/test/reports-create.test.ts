import { hash } from 'node:crypto'
import type { ReadyReport } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPlayed, QUARTER } from './support/reports.ts'
import type { ReportsApi } from './support/reports.ts'

const sha256 = (text: string) => hash('sha256', text, 'hex')

describe.each(someDialects())('POST /v1/compliance/reports on %s', (dialect) => {
  let api: ReportsApi
  beforeAll(async () => {
    api = await createPlayed({ dialect })
  })
  afterAll(() => api.remit.close())

  const ready = async (body: object, headers = {}): Promise<ReadyReport> => {
    const report = await api.ok('createReport', { body, headers })
    if (report.status !== 'ready') throw new Error(report.status)
    return report
  }
  const entry = (seq: number) => api.remit.ledger.entry(api.org.id, seq)

  describe('201', () => {
    test('returns the report, its location and the digest of the body', async () => {
      const response = await api.call('createReport', { body: { framework: 'soc2', ...QUARTER } })
      const text = await response.text()
      const report = JSON.parse(text) as ReadyReport

      expect(response.status).toBe(201)
      expect(response.headers.get('location')).toBe(`/v1/compliance/reports/${report.id}`)
      expect(response.headers.get('etag')).toBe(`"${report.content_sha256}"`)
      expect(response.headers.get('content-digest')).toBe(
        `sha-256=:${hash('sha256', text, 'base64')}:`,
      )
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('content-disposition')).toBe(
        `inline; filename="remit-soc2-2026-01-01_2026-04-01-${report.id}.json"`,
      )
    })

    test('covers the requested period with the shipped framework', async () => {
      const { content, generated_by, generated_at } = await ready({
        framework: 'soc2',
        ...QUARTER,
      })

      expect(content.period).toEqual({
        from: '2026-01-01T00:00:00.000Z',
        to: '2026-04-01T00:00:00.000Z',
      })
      expect(content.scope).toMatchObject({ categories: ['security'], role: null })
      expect(content.summary).toMatchObject({ total: 33, manual: 16 })
      expect(content.ledger.verified).toBe(true)
      expect(generated_by.type).toBe('key')
      expect(generated_at).toBe('2026-04-02T08:00:00.000Z')
    })

    test('requires only the framework: the last ninety whole days', async () => {
      const { content } = await ready({ framework: 'nist_ai_rmf' })

      expect(content.period).toEqual({
        from: '2026-01-02T00:00:00.000Z',
        to: '2026-04-02T00:00:00.000Z',
      })
      expect(content.controls).toHaveLength(72)
    })

    test('hashes the content as canonical JSON, and the answer in CSV', async () => {
      const report = await ready({ framework: 'eu_ai_act', role: 'deployer' })
      const csv = await api.call('getReport', {
        params: { id: report.id },
        query: { format: 'csv' },
      })

      expect(report.content_sha256).toBe(sha256(canonicalJson(report.content)))
      expect(report.csv_sha256).toBe(sha256(await csv.text()))
    })

    test('records an entry with everything needed to check the report', async () => {
      const report = await ready({ framework: 'soc2', ...QUARTER, categories: ['privacy'] })
      const { kind, data, actor } = await entry(report.record_seq)
      const before = await entry(report.record_seq - 1)

      expect(kind).toBe('report.generated')
      expect(actor).toEqual(report.generated_by)
      expect(data).toEqual({
        report_id: report.id,
        framework: 'soc2',
        from: report.content.period.from,
        to: report.content.period.to,
        categories: ['privacy'],
        role: null,
        requested_at: '2026-04-02T08:00:00.000Z',
        evaluation: false,
        content_sha256: report.content_sha256,
        csv_sha256: report.csv_sha256,
        catalog_sha256: report.content.catalog.sha256,
        checkpoint: { seq: before.seq, hash: before.hash },
        ledger_head: report.ledger_head,
        summary: report.content.summary,
        verified: true,
      })
      expect(report.ledger_head).toMatchObject({ size: report.record_seq, hash: before.hash })
    })

    test('may be about a period up to this very moment', async () => {
      const to = '2026-04-02T08:00:00.000Z'
      expect((await ready({ framework: 'soc2', to })).content.period.to).toBe(to)
    })
  })

  describe('Idempotency-Key', () => {
    test('a repeat returns the same report without generating it again', async () => {
      const options = {
        body: { framework: 'soc2', ...QUARTER },
        headers: { 'idempotency-key': `once ${dialect}` },
      }
      const first = await api.call('createReport', options)
      const before = await api.remit.ledger.head(api.org.id)
      const second = await api.call('createReport', options)

      expect(second.status).toBe(201)
      expect(await second.text()).toBe(await first.text())
      expect(second.headers.get('location')).toBe(first.headers.get('location'))
      expect((await api.remit.ledger.head(api.org.id)).size).toBe(before.size)
    })

    test('of another request is refused', async () => {
      const headers = { 'idempotency-key': `other ${dialect}` }
      await ready({ framework: 'soc2' }, headers)
      const body = { framework: 'nist_ai_rmf' }

      expect((await api.refusal('createReport', { body, headers })).code).toBe(
        'idempotency_mismatch',
      )
    })
  })

  describe('400', () => {
    test.each([
      [{}, 'framework'],
      [{ framework: 'SOC2' }, 'framework'],
      [{ framework: '__proto__' }, 'framework'],
      [{ framework: 'iso_42001' }, 'framework'],
      [{ framework: 'soc2', form: 'x' }, 'form'],
      [{ framework: 'soc2', from: '2026-01-01T00:00:00' }, 'from'],
      [{ framework: 'soc2', from: '2026-02-30' }, 'from'],
      [{ framework: 'soc2', from: 'yesterday' }, 'from'],
      [{ framework: 'soc2', to: '2026-01-01T00:00:00.0001Z' }, 'to'],
      [{ framework: 'soc2', to: 1_767_225_600 }, 'to'],
      [{ framework: 'soc2', from: '2026-03-01', to: '2026-02-01' }, 'from'],
      [{ framework: 'soc2', to: '2026-04-02' }, 'to'],
      [{ framework: 'soc2', to: '2026-04-02T08:00:00.001Z' }, 'to'],
      [{ framework: 'soc2', categories: [] }, 'categories'],
      [{ framework: 'soc2', categories: ['safety'] }, 'categories.0'],
      [{ framework: 'soc2', role: 'provider' }, 'role'],
      [{ framework: 'eu_ai_act', role: 'importer' }, 'role'],
      [{ framework: 'eu_ai_act', categories: ['security'] }, 'categories'],
    ])('%j names %s', async (body, path) => {
      const { code, errors } = await api.refusal('createReport', { body })

      expect(code).toBe('invalid_request')
      expect(errors?.[0]?.path).toBe(path)
    })

    test('names the frameworks, and the latest end of a period', async () => {
      const unknown = await api.refusal('createReport', { body: { framework: 'hipaa' } })
      const open = await api.refusal('createReport', {
        body: { framework: 'soc2', to: '2026-04-02' },
      })

      const day = 'must be a date, such as 2026-01-31, or an RFC 3339 time with its offset'
      for (const from of ['2026-01-01T00:00:00', null, 5]) {
        const body = { framework: 'soc2', from }
        const { errors = [] } = await api.refusal('createReport', { body })
        expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(day)])
      }
      expect(unknown.errors?.[0]?.message).toBe('must be soc2, eu_ai_act or nist_ai_rmf')
      expect(open.errors?.[0]?.message).toContain('2026-04-02T08:00:00.000Z')
    })
  })

  describe('403', () => {
    test('a key that only reads asks for no report, since that writes an entry', async () => {
      for (const role of ['read', 'approver', 'ingest'] as const) {
        const key = await api.remit.key(api.org.id, role)
        const body = { framework: 'soc2' }
        expect((await api.refusal('createReport', { body, key })).code).toBe('role_required')
      }
    })

    test('reports come with the team plan', async () => {
      const free = api.as(await api.remit.organization('free'))
      const team = api.as(await api.remit.organization('team'))
      api.clock.advance(1)
      const body = { framework: 'soc2', to: '2026-04-02T08:00:00.001Z' }

      expect((await free.refusal('createReport', { body })).code).toBe('plan_required')
      expect((await team.call('createReport', { body })).status).toBe(201)
    })
  })
})
