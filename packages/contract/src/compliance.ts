import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { page, Paging, PathId, Timestamp } from './primitives.ts'
import { Framework, FrameworkRole, Report, ReportPeriod, ReportSummary } from './report-document.ts'

const MOMENT_RULE =
  'must be a date, such as 2026-01-31, or an RFC 3339 time with its offset and at most milliseconds'

/** A moment with its offset, or a UTC day. */
const Moment = z.union(
  [z.iso.date(), z.iso.datetime({ offset: true }).regex(/^[^.]*(\.\d{1,3}(?!\d).*)?$/)],
  MOMENT_RULE,
)

export const ReportRequest = z
  .strictObject({
    framework: Framework,
    from: Moment.optional().describe('The beginning; 90 days before `to` unless given'),
    to: Moment.optional().describe(
      'The end, which is not in the period; as a date, that whole UTC day is. Midnight UTC of today unless given. Later than the beginning of the ledger, and not later than now',
    ),
    categories: z
      .array(z.string().max(64))
      .min(1, 'must name a category or be left out')
      .max(32)
      .optional()
      .describe('soc2: security unless given; nist_ai_rmf: all unless given'),
    role: FrameworkRole.optional().describe('eu_ai_act: leaves out what concerns others'),
  })
  .meta({ id: 'ReportRequest' })
export type ReportRequest = z.infer<typeof ReportRequest>

export const REPORT_FORMATS = ['json', 'csv', 'html', 'oscal'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

export const CSV_PARTS = ['controls', 'findings', 'metrics', 'evidence'] as const
export type CsvPart = (typeof CSV_PARTS)[number]

export const ReportQuery = z.strictObject({
  format: z.enum(REPORT_FORMATS, 'must be json, csv, html or oscal').default('json'),
  part: z
    .enum(CSV_PARTS, 'must be controls, findings, metrics or evidence')
    .optional()
    .describe('The table of `format=csv`; controls unless given'),
  bom: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .describe('`format=csv` begins with a byte order mark, as Excel wants it'),
})
export type ReportQuery = z.infer<typeof ReportQuery>

/** A report in the list: without its content. */
export const ReportListItem = z
  .object({
    id: z.string(),
    status: z.enum(['generating', 'ready', 'failed']),
    framework: Framework,
    period: ReportPeriod,
    requested_at: Timestamp,
    generated_at: Timestamp.nullable(),
    summary: ReportSummary.nullable(),
    content_sha256: z.string().nullable(),
    verified: z.boolean().nullable().describe('Whether the ledger verified up to the period’s end'),
  })
  .meta({ id: 'ReportListItem' })
export type ReportListItem = z.infer<typeof ReportListItem>

const ONE_OF_TWO = (other: string) => `Exactly one is given: this, or \`${other}\``

export const EvidenceQuery = z
  .strictObject({
    ...Paging,
    control: z.string().max(64).optional().describe(ONE_OF_TWO('check')),
    check: z.string().max(16).optional().describe(ONE_OF_TWO('control')),
  })
  .refine(({ control, check }) => (control === undefined) !== (check === undefined), {
    path: ['control'],
    message: 'give either control or check',
  })
export type EvidenceQuery = z.infer<typeof EvidenceQuery>

/** An entry behind a control or a check; the ledger has the rest of it. */
export const EvidenceEntry = z
  .object({ seq: z.int(), kind: z.string(), recorded_at: Timestamp })
  .meta({ id: 'EvidenceEntry' })
export type EvidenceEntry = z.infer<typeof EvidenceEntry>

const reading = { plan: 'team', roles: ['read', 'approver'], scope: null } as const
const Id = z.strictObject({ id: PathId })

export const compliance = {
  createReport: endpoint({
    method: 'POST',
    path: '/v1/compliance/reports',
    plan: 'team',
    roles: [],
    scope: null,
    summary: 'Report on a period; 202 where it takes longer than five seconds',
    body: ReportRequest,
    ok: Report,
    status: 201,
    alsoStatus: 202,
    sends: ['Location', 'Retry-After', 'ETag', 'Content-Digest'],
  }),
  listReports: endpoint({
    method: 'GET',
    path: '/v1/compliance/reports',
    ...reading,
    summary: 'Reports, newest first',
    query: z.strictObject(Paging),
    ok: page(ReportListItem),
    status: 200,
  }),
  getReport: endpoint({
    method: 'GET',
    path: '/v1/compliance/reports/{id}',
    ...reading,
    summary: 'One report, as JSON, CSV, a page to print, or OSCAL',
    params: Id,
    query: ReportQuery,
    ok: Report,
    status: 200,
    alsoProduces: ['text/csv', 'text/html'],
    alsoJson: 'With `format=oscal`: assessment results of OSCAL',
    sends: ['ETag', 'Content-Digest'],
  }),
  listReportEvidence: endpoint({
    method: 'GET',
    path: '/v1/compliance/reports/{id}/evidence',
    ...reading,
    summary:
      'All entries behind a control or a check of a report; 410 once some that it was made from are pruned',
    params: Id,
    query: EvidenceQuery,
    ok: page(EvidenceEntry),
    status: 200,
  }),
}
