import { createHash } from 'node:crypto'
import type { ReadyReport } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAssessmentResults } from './support/oscal-schema.ts'
import { createPlayed, QUARTER } from './support/reports.ts'
import type { ReportsApi } from './support/reports.ts'

describe('a report over HTTP', () => {
  let api: ReportsApi
  let report: ReadyReport
  beforeAll(async () => {
    api = await createPlayed()
    const made = await api.ok('createReport', { body: { framework: 'soc2', ...QUARTER } })
    if (made.status !== 'ready') throw new Error(made.status)
    report = made
  })
  afterAll(() => api.remit.close())

  const get = (query: string, key = api.org.key) =>
    api.remit.call('GET', `/v1/compliance/reports/${report.id}?${query}`, { key })

  test.each([
    ['html', 'text/html; charset=utf-8', 'inline', 'html'],
    ['oscal', 'application/json', 'attachment', 'oscal.json'],
  ])('as %s: type, name, hash and digest', async (format, type, disposition, extension) => {
    const answer = await get(`format=${format}`)
    const bytes = Buffer.from(await answer.arrayBuffer())
    const digest = createHash('sha256').update(bytes).digest('base64')

    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': type,
      'content-disposition': `${disposition}; filename="remit-soc2-2026-01-01_2026-04-01-${report.id}.${extension}"`,
      'content-digest': `sha-256=:${digest}:`,
      etag: `"${report.content_sha256}"`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    expect(Buffer.from(await (await get(`format=${format}`)).arrayBuffer())).toEqual(bytes)
  })

  test('the page is sent with the policy that it carries, and cannot be framed', async () => {
    const answer = await get('format=html')
    const policy = answer.headers.get('content-security-policy') ?? ''
    const page = await answer.text()

    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; /)
    expect(policy).toMatch(/; frame-ancestors 'none'$/)
    expect(page).toContain(policy.replace("; frame-ancestors 'none'", '').replaceAll("'", '&#39;'))
    expect(page).toContain(report.content_sha256)
    expect(page).toContain(`entry ${report.record_seq}`)
  })

  test('the OSCAL document holds', async () => {
    isAssessmentResults(await (await get('format=oscal')).json())

    expect(isAssessmentResults.errors).toBeNull()
  })

  test.each(['html', 'oscal'])('%s has no parts', async (format) => {
    expect((await get(`format=${format}&part=findings`)).status).toBe(400)
  })

  test('another organization sees neither', async () => {
    const { key } = await api.remit.organization()

    expect((await get('format=html', key)).status).toBe(404)
    expect((await get('format=oscal', key)).status).toBe(404)
  })
})
