import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { component, page, Paging, PathId, strictComponent, Timestamp } from './primitives.ts'
import { Framework, FrameworkRole, Report, ReportPeriod, ReportSummary } from './report-document.ts'

const MOMENT_RULE =
  'must be a date, such as 2026-01-31, or an RFC 3339 time with its offset and at most milliseconds'

/** A time with its offset, or a UTC day. */
const Moment = z.union(
  [z.iso.date(), z.iso.datetime({ offset: true }).regex(/^[^.]*(\.\d{1,3}(?!\d).*)?$/)],
  MOMENT_RULE,
)

export const ReportRequest = strictComponent('ReportRequest', {
  framework: Framework,
  from: Moment.optional().describe('Start of the period. Default: 90 days before `to`'),
  to: Moment.optional().describe(
    'End of the period, exclusive; a date includes that whole UTC day. Default: midnight UTC of today. Must be after the start of the ledger and not in the future',
  ),
  categories: z
    .array(z.string().max(64))
    .min(1, 'must have at least one category; omit it for the default')
    .max(32)
    .optional()
    .describe('Default for soc2: security; for nist_ai_rmf: all'),
  role: FrameworkRole.optional().describe('eu_ai_act: excludes duties of other roles'),
})
export type ReportRequest = z.infer<typeof ReportRequest>

export const REPORT_FORMATS = ['json', 'csv', 'html', 'oscal'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

export const CSV_PARTS = ['controls', 'checks', 'findings', 'metrics', 'evidence'] as const
export type CsvPart = (typeof CSV_PARTS)[number]

export const ReportQuery = z.strictObject({
  format: z.enum(REPORT_FORMATS, 'must be json, csv, html or oscal').default('json'),
  part: z
    .enum(CSV_PARTS, 'must be controls, checks, findings, metrics or evidence')
    .optional()
    .describe('The table of `format=csv`. Default: controls'),
  bom: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .describe('`format=csv` starts with a byte order mark, as Excel requires'),
})
export type ReportQuery = z.infer<typeof ReportQuery>

const OscalResults = z
  .object({ 'assessment-results': z.looseObject({}).describe('As OSCAL defines them') })
  .meta({ id: 'OscalResults', description: 'With `format=oscal`: OSCAL assessment results' })

/** A report in a list, without its content. */
export const ReportListItem = component('ReportListItem', {
  id: z.string(),
  status: z.enum(['generating', 'ready', 'failed']),
  framework: Framework,
  period: ReportPeriod,
  requested_at: Timestamp,
  generated_at: Timestamp.nullable(),
  summary: ReportSummary.nullable(),
  content_sha256: z.string().nullable(),
  verified: z
    .boolean()
    .nullable()
    .describe('True if the ledger verified up to the end of the period'),
})
export type ReportListItem = z.infer<typeof ReportListItem>

const ONE_OF_TWO = (other: string) => `Exactly one of this and \`${other}\` is required`

export const EvidenceQuery = z
  .strictObject({
    ...Paging,
    control: z.string().max(64).optional().describe(ONE_OF_TWO('check')),
    check: z.string().max(16).optional().describe(ONE_OF_TWO('control')),
  })
  .refine(({ control, check }) => (control === undefined) !== (check === undefined), {
    path: ['control'],
    message: 'requires either control or check',
  })
export type EvidenceQuery = z.infer<typeof EvidenceQuery>

/** An entry behind a control or a check, as a reference into the ledger. */
export const EvidenceEntry = z
  .object({ seq: z.int(), kind: z.string(), recorded_at: Timestamp })
  .meta({ id: 'EvidenceEntry' })
export type EvidenceEntry = z.infer<typeof EvidenceEntry>

const reading = { plan: 'team', roles: ['read', 'approver'] } as const
const Id = z.strictObject({ id: PathId })

export const compliance = {
  createReport: endpoint('POST /v1/compliance/reports', {
    plan: 'team',
    summary: 'Generate a report on a period; 202 if it takes longer than five seconds',
    text: 'Generates a compliance report from the ledger. Returns 201 with the report, or 202 with `status: "generating"` and its `Location` if it takes longer than five seconds. The hash of the report is recorded in the ledger.',
    body: ReportRequest,
    ok: Report,
    status: 201,
    alsoStatus: 202,
    sends: ['Location', 'Retry-After', 'ETag', 'Content-Digest'],
  }),
  listReports: endpoint('GET /v1/compliance/reports', {
    ...reading,
    summary: 'List reports, newest first',
    text: 'Lists the reports of the organization, newest first, without their content.',
    query: z.strictObject(Paging),
    ok: page(ReportListItem),
  }),
  getReport: endpoint('GET /v1/compliance/reports/{id}', {
    ...reading,
    summary: 'Get a report as JSON, CSV, printable HTML, or OSCAL',
    text: 'Returns one report as JSON, CSV, HTML or OSCAL. `Content-Digest` and `csv_sha256` verify a stored copy against the ledger.',
    problems: ['report_not_found', 'report_not_ready', 'report_changed'],
    params: Id,
    query: ReportQuery,
    ok: Report,
    alsoProduces: ['text/csv', 'text/html'],
    also: { oscal: OscalResults },
    sends: ['ETag', 'Content-Digest'],
  }),
  listReportEvidence: endpoint('GET /v1/compliance/reports/{id}/evidence', {
    ...reading,
    summary: 'List the entries behind a control or check of a report; 410 if some were pruned',
    text: 'Lists the entries behind a control or a check of a report, computed again from the ledger.',
    problems: ['report_not_found', 'report_not_ready', 'report_changed', 'ledger_pruned'],
    params: Id,
    query: EvidenceQuery,
    ok: page(EvidenceEntry),
  }),
}
