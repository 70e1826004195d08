import { z } from 'zod'
import { Actor } from './ledger.ts'
import { component, Timestamp } from './primitives.ts'

export const Framework = z
  .enum(['soc2', 'eu_ai_act', 'nist_ai_rmf'], 'must be soc2, eu_ai_act or nist_ai_rmf')
  .meta({ id: 'Framework' })
export type Framework = z.infer<typeof Framework>

export const FrameworkRole = z
  .enum(['provider', 'deployer', 'both'], 'must be provider, deployer or both')
  .meta({ id: 'FrameworkRole' })
export type FrameworkRole = z.infer<typeof FrameworkRole>

const Seq = z.int()
const Hash = z.string().regex(/^[0-9a-f]{64}$/)
/** The hash in the ledger; a manipulated one may have any form. */
const FoundHash = z.string()

/**
 * A measured value: integers, decimal text, a ratio with its text of four decimals; null without
 * data.
 */
export type Figure =
  | number
  | string
  | boolean
  | null
  | readonly Figure[]
  | { readonly [name: string]: Figure }

const FigureShape = z.unknown().meta({
  id: 'Figure',
  description: 'Integers, text, null, or lists and objects of these',
}) as unknown as z.ZodType<Figure, Figure>

export const ControlStatus = z
  .enum(['satisfied', 'attention', 'not_evidenced', 'manual'])
  .meta({ id: 'ControlStatus' })
export type ControlStatus = z.infer<typeof ControlStatus>

export const StatusReason = z
  .enum([
    'ledger_not_verified',
    'check_failed',
    'not_in_plan',
    'not_configured',
    'not_exercised',
    'too_small',
    'too_young',
    'nothing_to_check',
  ])
  .meta({ id: 'StatusReason' })
export type StatusReason = z.infer<typeof StatusReason>

export const Severity = z.enum(['critical', 'high', 'medium', 'low']).meta({ id: 'Severity' })
export type Severity = z.infer<typeof Severity>

export const ReportCheck = component('ReportCheck', {
  id: z.string(),
  title: z.string(),
  severity: Severity,
  result: z
    .enum(['pass', 'fail', 'too_small', 'too_young', 'not_applicable'])
    .describe('`too_small`, `too_young`: nothing failed, but the sample is too small to pass'),
  carries: z
    .boolean()
    .optional()
    .describe('False: a pass supports no control, only a failure counts'),
  value: FigureShape,
  threshold: z.string().describe('Condition for a pass'),
  relaxed: z.boolean().describe('The threshold is less strict than the default'),
  population: z.int().describe('Number of checked items; 0: the check does not apply'),
  basis: z.int().optional().describe('Number of the items that `least` counts'),
  days: z.int().optional().describe('Number of days that `least` counts'),
  least: z
    .object({
      population: z.int(),
      of: z.string().describe('The counted item'),
      days: z.int().describe('Minimum number of days'),
      over: z
        .enum(['cases', 'use', 'first_to_last', 'record', 'organization', 'period'])
        .describe(
          'Counted days: those on which the items occurred (`cases`); days of the period with a decision or a vote (`use`), or from the first to the last of them; up to the end of the period, since the oldest kept decision (`record`) or since the organization was created. `period`: days with records, in reports of earlier versions',
        ),
    })
    .optional()
    .describe('Minimum sample for a pass'),
})
export type ReportCheck = z.infer<typeof ReportCheck>

const Dates = z
  .array(Timestamp.nullable())
  .describe('Times of these entries; null for a pruned one')

export const ReportEvidence = component('ReportEvidence', {
  kind: z.string(),
  title: z.string().optional().describe('The title of the kind'),
  operated: z.boolean().describe('True if it operated in the period'),
  reason: z.enum(['not_configured', 'not_exercised', 'too_young']).nullable(),
  count: z.int(),
  first_seq: Seq.nullable(),
  last_seq: Seq.nullable(),
  sample: z.array(Seq).max(25),
  sample_dates: Dates.optional(),
})
export type ReportEvidence = z.infer<typeof ReportEvidence>

export const ReportControl = component('ReportControl', {
  id: z.string(),
  title: z.string(),
  coverage: z.enum(['automated', 'partial', 'manual']),
  status: ControlStatus,
  reason: StatusReason.nullable(),
  checks: z.array(ReportCheck),
  findings: z.array(z.string()),
  evidence: z.array(ReportEvidence),
  record_shows: z
    .array(z.string())
    .optional()
    .describe('Evidence in the ledger: what operated and which checks passed, with figures'),
  organization_must_supply: z.string().describe('Aspects that Remit does not record'),
})
export type ReportControl = z.infer<typeof ReportControl>

export const ReportFinding = component('ReportFinding', {
  id: z.string(),
  check: z.string(),
  severity: Severity,
  text: z.string(),
  count: z.int(),
  seqs: z.array(Seq).max(50).describe('The lowest sequence numbers'),
  title: z.string().optional().describe('The title of the check'),
  dates: Dates.optional(),
  agents: z.array(z.string()).optional().describe('Agents of these entries'),
  keys: z
    .array(z.string())
    .optional()
    .describe('Authors of these entries, with the person if known'),
  fixed_seq: Seq.nullable()
    .optional()
    .describe('The entry that corrected it in the period; null while it is open'),
  fixed_at: Timestamp.nullable().optional().describe('Time of that entry'),
  controls: z.array(z.string()),
})
export type ReportFinding = z.infer<typeof ReportFinding>

export const ReportMetric = component('ReportMetric', {
  id: z.string(),
  name: z.string(),
  value: FigureShape,
  unit: z.string(),
  population: z.int(),
})
export type ReportMetric = z.infer<typeof ReportMetric>

export const ReportPeriod = z
  .object({ from: Timestamp, to: Timestamp })
  .describe('Half-open: `to` is exclusive')
  .meta({ id: 'ReportPeriod' })
export type ReportPeriod = z.infer<typeof ReportPeriod>

export const ReportSummary = component('ReportSummary', {
  total: z.int(),
  satisfied: z.int(),
  attention: z.int(),
  not_evidenced: z.int(),
  manual: z.int(),
  open_critical: z.int().optional().describe('Open findings by severity'),
  open_high: z.int().optional().describe('Open findings of severity high'),
  open_medium: z.int().optional().describe('Open findings of severity medium'),
  open_low: z.int().optional().describe('Open findings of severity low'),
})
export type ReportSummary = z.infer<typeof ReportSummary>

/**
 * The hashed content: a pure function of the entries before `period.to` and the request. Stored
 * reports must remain valid: additions are optional, or get another `schema`.
 */
export const ReportContent = component('ReportContent', {
  schema: z.literal('report/1'),
  framework: z.object({ id: Framework, name: z.string(), version: z.string() }),
  catalog: z.object({ version: z.string(), sha256: Hash }),
  rules: z.object({ version: z.string(), thresholds: z.record(z.string(), z.int()) }),
  organization: z.object({ id: z.string(), name: z.string() }),
  scope: z.object({
    statement: z.string(),
    categories: z.array(z.string()),
    role: FrameworkRole.nullable(),
    plan: z.string().nullable().describe('null before the creation of the organization'),
  }),
  period: ReportPeriod,
  ledger: z.object({
    first_seq: Seq.nullable(),
    last_seq: Seq.nullable(),
    entries: z.int(),
    by_kind: z.record(z.string(), z.int()),
    hash_at_last: FoundHash.nullable(),
    verified: z.boolean(),
    verified_from_seq: Seq.nullable(),
    first_bad_seq: Seq.nullable(),
    anchor_mismatches: z.array(Seq).describe('Size at which an earlier checkpoint disagrees'),
  }),
  summary: ReportSummary,
  controls: z.array(ReportControl),
  findings: z.array(ReportFinding),
  metrics: z.array(ReportMetric),
  notice: z.string(),
})
export type ReportContent = z.infer<typeof ReportContent>

const asked = { id: z.string(), framework: Framework, period: ReportPeriod }

/** A report with the parts that are not hashed: time, requester and the state of the ledger. */
export const ReadyReport = component('ReadyReport', {
  ...asked,
  status: z.literal('ready'),
  generated_at: Timestamp,
  generated_by: Actor,
  generated_by_person: z
    .string()
    .nullable()
    .optional()
    .describe('The person who requested the report; null if no person is known'),
  evaluation: z
    .boolean()
    .describe('True: generated by a server in evaluation mode, without a license'),
  content_sha256: Hash.describe('SHA-256 of `content` as canonical JSON (RFC 8785)'),
  csv_sha256: Hash.describe('SHA-256 of the answer to `format=csv`'),
  record_seq: Seq.describe('The entry `report.generated`'),
  ledger_head: z.object({
    size: z.int(),
    hash: FoundHash,
    verified: z.boolean(),
    first_bad_seq: Seq.nullable(),
    anchors_checked: z.int(),
  }),
  content: ReportContent,
})
export type ReadyReport = z.infer<typeof ReadyReport>

export const GeneratingReport = component('GeneratingReport', {
  ...asked,
  status: z.literal('generating'),
  requested_at: Timestamp,
})

export const FailedReport = component('FailedReport', {
  ...asked,
  status: z.literal('failed'),
  requested_at: Timestamp,
  detail: z.string(),
})

export const Report = z
  .discriminatedUnion('status', [ReadyReport, GeneratingReport, FailedReport])
  .meta({ id: 'Report' })
export type Report = z.infer<typeof Report>
