import { hash } from 'node:crypto'
import type { ReadyReport } from '@remit/contract'
import { on } from '@remit/core/db'
import { createApi, createClock, readyReport, sampled, someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import compliance from '../src/index.ts'
import type { ReportRow } from '../src/tables/reports.ts'
import type { Tables } from '../src/tables/schema.ts'
import { faultOf, readRecord } from '../src/verify/report-record.ts'
import { Attacker } from './support/attacker.ts'

type Row = Readonly<Record<keyof ReportRow, unknown>>

/**
 * A change to the row of a report by an attacker with the database, and the response to a read of
 * the report.
 */
interface Change {
  readonly name: string
  readonly to: (row: ReportRow) => Partial<Row>
  readonly answers: 200 | 409
  /** Errors that come before the one that the report was changed. */
  readonly before?: readonly string[]
  /** PostgreSQL keeps nothing else in a column than what it is for. */
  readonly only?: 'sqlite'
}

const sha256 = (text: string): string => hash('sha256', text, 'hex')
const OTHER_HASH = 'a'.repeat(64)
const OTHER_TIME = '2020-01-01T00:00:00.000Z'

const change =
  (answers: Change['answers'], more: Partial<Change> = {}) =>
  (name: string, to: Change['to']): Change => ({ name, to, answers, ...more })
/** It is still a report, and only the entry says otherwise. */
const readable = change(200)
/** It is no report any more. */
const unreadable = change(409)

const withHead = (head: string | null, members: object): Partial<Row> => ({
  head: JSON.stringify({ ...(JSON.parse(head ?? '') as object), ...members }),
})
const withContent = (content: string): Partial<Row> => ({
  content,
  content_sha256: sha256(content),
})

const CHANGES: readonly Change[] = [
  readable('framework', () => ({ framework: 'eu_ai_act' })),
  unreadable('framework, to none', () => ({ framework: 'x' })),
  readable('period_from', () => ({ period_from: OTHER_TIME })),
  readable('period_to', () => ({ period_to: '2026-01-30T00:00:00.000Z' })),
  unreadable('period_from, to no time', () => ({ period_from: 'x\n' })),
  readable('scope', () => ({ scope: '{"categories":["privacy"],"role":null}' })),
  readable('scope, its role', () => ({ scope: '{"categories":["security"],"role":"both"}' })),
  readable('scope, to no JSON', () => ({ scope: 'x' })),
  readable('scope, to nothing', () => ({ scope: 'null' })),
  readable('requested_at', () => ({ requested_at: OTHER_TIME })),
  readable('requested_by', () => ({ requested_by: '{"type":"human","id":"auditor"}' })),
  unreadable('requested_by, to no JSON', () => ({ requested_by: 'x' })),
  unreadable('requested_by, to nobody', () => ({ requested_by: 'null' })),
  readable('requested_person', () => ({ requested_person: 'auditor@example.org' })),
  readable('evaluation', () => ({ evaluation: 1 })),
  readable('generated_at', () => ({ generated_at: OTHER_TIME })),
  unreadable('generated_at, to no time', () => ({ generated_at: 'x' })),
  unreadable('generated_at, to nothing', () => ({ generated_at: null })),
  readable('summary', () => ({
    summary: '{"total":33,"satisfied":33,"attention":0,"not_evidenced":0,"manual":0}',
  })),
  readable('summary, to no JSON', () => ({ summary: 'x' })),
  readable('summary, to something else', () => ({ summary: '[33]' })),
  readable('summary, to nothing', () => ({ summary: null })),
  readable('verified', () => ({ verified: 0 })),
  readable('verified, to nothing', () => ({ verified: null })),
  readable('head.verified', ({ head }) => withHead(head, { verified: false })),
  readable('head.first_bad_seq', ({ head }) => withHead(head, { first_bad_seq: 3 })),
  readable('head.anchors_checked', ({ head }) => withHead(head, { anchors_checked: 99_999 })),
  readable('head, by a member more', ({ head }) => withHead(head, { note: 'sound' })),
  change(200, { before: ['2 report_checkpoint'] })('head.hash', ({ head }) =>
    withHead(head, { hash: OTHER_HASH }),
  ),
  change(200, { before: ['1 report_checkpoint'] })('head.size', ({ head }) =>
    withHead(head, { size: 2 }),
  ),
  unreadable('head, to nothing that is JSON', () => ({ head: 'null' })),
  unreadable('head, to nothing', () => ({ head: null })),
  unreadable('head, to no JSON', () => ({ head: '[1' })),
  change(200, { before: ['2 report_unrecorded'] })('record_seq', () => ({ record_seq: 2 })),
  unreadable('record_seq, to nothing', () => ({ record_seq: null })),
  unreadable('content_sha256', () => ({ content_sha256: OTHER_HASH })),
  unreadable('content_sha256, to what no header may hold', () => ({ content_sha256: '\n' })),
  unreadable('csv_sha256', () => ({ csv_sha256: OTHER_HASH })),
  unreadable('content', ({ content }) => ({ content: content!.replace('soc2', 'soc3') })),
  unreadable('content, to no JSON', () => ({ content: 'x' })),
  readable('content with its hash', ({ content }) =>
    withContent(content!.replace('"satisfied":', '"satisfied":1')),
  ),
  unreadable('content with its hash, to no report', () => withContent('{}')),
  unreadable('content with its hash, to half a surrogate', ({ content }) =>
    withContent(content!.replace('"name":"', String.raw`"name":"\ud800`)),
  ),
  unreadable('csv', ({ csv }) => ({ csv: `${csv}\r\n` })),
  readable('csv with its hash', () => ({ csv: 'x', csv_sha256: sha256('x') })),
  ...(
    [
      ['content, to bytes', ({ content }) => ({ content: Buffer.from(content!) })],
      ['csv, to bytes', ({ csv }) => ({ csv: Buffer.from(csv!) })],
      ['record_seq, to text', () => ({ record_seq: 'abc' })],
    ] as const satisfies readonly (readonly [string, Change['to']])[]
  ).map(([name, to]) => change(409, { only: 'sqlite' })(name, to)),
]

describe.each(someDialects())('a modified stored report on %s', (dialect) => {
  const clock = createClock('2026-01-05T08:00:00.000Z')
  let api: Api
  let report: ReadyReport
  let stored: ReportRow

  beforeAll(async () => {
    api = await createApi({ dialect, clock, modules: [compliance] })
    await Attacker.dropGuards(api.remit.db)
    clock.set('2026-02-01T08:00:00.000Z')
    report = await readyReport(api, { framework: 'soc2', from: '2026-01-01', to: '2026-01-31' })
    stored = await rows().selectAll().executeTakeFirstOrThrow()
  })
  afterEach(() => write(stored))
  afterAll(() => api.remit.close())

  const rows = () => on<Tables>(api.remit.db).selectFrom('compliance_report')
  const write = async (values: Partial<Row>): Promise<void> => {
    const table = on<Tables>(api.remit.db).updateTable('compliance_report')
    await table.set(values as Partial<ReportRow>).execute()
  }
  const verified = async () => {
    const found = await api.ok('verifyLedger', { body: {} })
    const errors = found.errors.map(({ seq, code }) => `${seq} ${code}`)
    return { ...found, errors }
  }
  const answers = async (query: Record<string, string> = {}) =>
    (await api.call('getReport', { params: { id: report.id }, query })).status
  const evidence = async (query: Record<string, string>) =>
    (await api.call('listReportEvidence', { params: { id: report.id }, query })).status
  const changes = sampled(
    CHANGES.filter(({ only = dialect }) => only === dialect),
    3,
    1,
  )

  test('is valid without a modification', async () => {
    const { valid, status, reports, errors } = await verified()

    expect(report.record_seq).toBe(3)
    expect({ valid, status, reports }).toEqual({
      valid: true,
      status: 'ok',
      reports: { checked: 1, mismatched: 0 },
    })
    expect(errors).toEqual([])
  })

  test('may have another layout with the same content', async () => {
    const anew = (text: string | null) => JSON.stringify(JSON.parse(text ?? ''), null, 2)
    const { head, summary, scope, requested_by } = stored
    await write({
      head: anew(head),
      summary: anew(summary),
      scope: anew(scope),
      requested_by: anew(requested_by),
    })

    expect(await verified()).toMatchObject({ valid: true, errors: [] })
  })

  test.each(changes)('$name: found by verification', async ({ to, before = [] }) => {
    await write(to(stored))
    const { valid, status, first_invalid, errors } = await verified()
    const wanted = [...before, '3 report_changed']

    expect({ valid, status }).toEqual({ valid: false, status: 'tampered' })
    expect(errors).toEqual(wanted)
    expect(`${first_invalid?.seq} ${first_invalid?.code}`).toBe(wanted[0])
  })

  test.each(changes)('$name: asking for it is answered $answers', async ({ to, answers: one }) => {
    await write(to(stored))
    const found = [
      await answers(),
      await answers({ format: 'html' }),
      await answers({ format: 'oscal' }),
      await answers({ format: 'csv' }),
      await answers({ format: 'csv', part: 'metrics' }),
      await evidence({ check: 'DEC-1' }),
    ]

    expect(new Set(found)).toEqual(new Set([one]))
    expect((await api.call('listReports')).status).toBe(200)
  })

  test('is refused as changed, and is listed without unreadable columns', async () => {
    await write({ head: '[1', summary: 'x' })
    const { data } = await api.ok('listReports')

    expect(await api.refusal('getReport', { params: { id: report.id } })).toMatchObject({
      status: 409,
      code: 'report_changed',
    })
    expect(data).toMatchObject([{ id: report.id, status: 'ready', summary: null }])
  })

  test('leads to the evidence of the scope that was hashed', async () => {
    await write({ scope: '{"categories":["privacy"],"role":null}' })

    expect(await evidence({ control: 'CC7.2' })).toBe(200)
    expect(await evidence({ control: 'P1.1' })).toBe(400)
  })

  test('is not intact for the next report, while the ledger is valid', async () => {
    await write({ requested_at: OTHER_TIME })
    const to = '2026-02-01T08:00:00.001Z'
    clock.set('2026-02-01T08:00:01.000Z')
    const { content, ledger_head } = await readyReport(api, { framework: 'soc2', to })
    const finding = content.findings.find(({ check }) => check === 'REP-1')
    const sealed = content.metrics.find(({ id }) => id === 'M49')
    await on<Tables>(api.remit.db)
      .deleteFrom('compliance_report')
      .where('id', '!=', report.id)
      .execute()

    expect(finding).toMatchObject({ count: 1, seqs: [3] })
    expect(sealed?.value).toEqual({ recorded: 1, not_intact: 1 })
    expect(content.ledger.verified).toBe(true)
    expect(ledger_head).toMatchObject({ verified: false, first_bad_seq: 3 })
  })

  test('is compared with the members of an older entry', async () => {
    const { actor, data, recorded_at } = await api.remit.ledger.entry(api.org.id, 3)
    const { ledger_head: _head, requested_at: _at, verified: _verified, ...less } = data!
    const faultWith = (row: ReportRow) => {
      const payload = JSON.stringify({ actor, data: less })
      return faultOf(readRecord({ seq: 3, recorded_at, payload })!, row)
    }
    const { head } = withHead(stored.head, { anchors_checked: 9 }) as { head: string }
    const { head: moved } = withHead(stored.head, { size: 2 }) as { head: string }

    expect(faultWith(stored)).toBeNull()
    expect(faultWith({ ...stored, requested_at: OTHER_TIME, verified: 0, head })).toBeNull()
    expect(faultWith({ ...stored, head: moved })).toBe('report_changed')
    expect(faultWith({ ...stored, summary: '{}' })).toBe('report_changed')
  })
})
