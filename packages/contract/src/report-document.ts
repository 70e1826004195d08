import { z } from 'zod'
import { Actor } from './ledger.ts'
import { Timestamp } from './primitives.ts'

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
/** As it stands in the ledger: of one that somebody changed it may be anything. */
const FoundHash = z.string()

/** A measured value: whole numbers, decimal text, a ratio with its text of four decimals; null over nothing. */
export type Figure =
  | number
  | string
  | boolean
  | null
  | readonly Figure[]
  | { readonly [name: string]: Figure }

const FigureShape = z.unknown().meta({
  id: 'Figure',
  description: 'Whole numbers, text, null, or lists and objects of these',
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

export const ReportCheck = z
  .object({
    id: z.string(),
    title: z.string(),
    severity: Severity,
    result: z
      .enum(['pass', 'fail', 'too_small', 'too_young', 'not_applicable'])
      .describe('`too_small`, `too_young`: nothing failed, and too little was there to pass'),
    value: FigureShape,
    threshold: z.string().describe('What it takes to pass'),
    relaxed: z.boolean().describe('The threshold is looser than that of the rules'),
    population: z.int().describe('What was looked at; 0 = the check does not apply'),
    basis: z.int().optional().describe('How many there were of what `least` counts'),
    days: z
      .int()
      .optional()
      .describe('Whole days that there is a record of, as `least` counts them'),
    least: z
      .object({
        population: z.int(),
        of: z.string().describe('What is counted'),
        days: z.int().describe('Whole days of it'),
        over: z
          .enum(['period', 'record', 'organization'])
          .describe(
            'Days of record in the period, of record altogether, or since the organization was made',
          ),
      })
      .optional()
      .describe('From how many, over how many days, the check may pass'),
  })
  .meta({ id: 'ReportCheck' })
export type ReportCheck = z.infer<typeof ReportCheck>

const Dates = z
  .array(Timestamp.nullable())
  .describe('When these entries were recorded; null for one that is no longer kept')

export const ReportEvidence = z
  .object({
    kind: z.string(),
    operated: z.boolean().describe('Whether it was at work in the period'),
    reason: z.enum(['not_configured', 'not_exercised', 'too_young']).nullable(),
    count: z.int(),
    first_seq: Seq.nullable(),
    last_seq: Seq.nullable(),
    sample: z.array(Seq).max(25),
    sample_dates: Dates.optional(),
  })
  .meta({ id: 'ReportEvidence' })
export type ReportEvidence = z.infer<typeof ReportEvidence>

export const ReportControl = z
  .object({
    id: z.string(),
    title: z.string(),
    coverage: z.enum(['automated', 'partial', 'manual']),
    status: ControlStatus,
    reason: StatusReason.nullable(),
    checks: z.array(ReportCheck),
    findings: z.array(z.string()),
    evidence: z.array(ReportEvidence),
    record_shows: z.array(z.string()).optional().describe('What the record shows about it'),
    organization_must_supply: z.string().describe('What lies outside of what Remit records'),
  })
  .meta({ id: 'ReportControl' })
export type ReportControl = z.infer<typeof ReportControl>

export const ReportFinding = z
  .object({
    id: z.string(),
    check: z.string(),
    severity: Severity,
    text: z.string(),
    count: z.int(),
    seqs: z.array(Seq).max(50).describe('The lowest of them'),
    title: z.string().optional().describe('The title of the check'),
    dates: Dates.optional(),
    agents: z.array(z.string()).optional().describe('Agents in these entries, at most ten'),
    keys: z
      .array(z.string())
      .optional()
      .describe('Keys that these entries came with, at most ten; with the person, if one is named'),
    fixed_seq: Seq.nullable()
      .optional()
      .describe('The entry that put it right in the period; null while it is open'),
    fixed_at: Timestamp.nullable().optional().describe('When that entry was recorded'),
    controls: z.array(z.string()),
  })
  .meta({ id: 'ReportFinding' })
export type ReportFinding = z.infer<typeof ReportFinding>

export const ReportMetric = z
  .object({
    id: z.string(),
    name: z.string(),
    value: FigureShape,
    unit: z.string(),
    population: z.int(),
  })
  .meta({ id: 'ReportMetric' })
export type ReportMetric = z.infer<typeof ReportMetric>

export const ReportPeriod = z
  .object({ from: Timestamp, to: Timestamp })
  .describe('Half-open: `to` is not in it')
  .meta({ id: 'ReportPeriod' })
export type ReportPeriod = z.infer<typeof ReportPeriod>

export const ReportSummary = z
  .object({
    total: z.int(),
    satisfied: z.int(),
    attention: z.int(),
    not_evidenced: z.int(),
    manual: z.int(),
    open_critical: z.int().optional().describe('Findings of the severity that were not put right'),
    open_high: z.int().optional().describe('Findings of severity high that were not put right'),
    open_medium: z.int().optional().describe('Findings of severity medium that were not put right'),
    open_low: z.int().optional().describe('Findings of severity low that were not put right'),
  })
  .meta({ id: 'ReportSummary' })
export type ReportSummary = z.infer<typeof ReportSummary>

/**
 * What is hashed: a function of the entries before `period.to` and of what was asked, of nothing else.
 * Reports that are stored must go on to fit: what is added is optional, or makes another `schema`.
 */
export const ReportContent = z
  .object({
    schema: z.literal('report/1'),
    framework: z.object({ id: Framework, name: z.string(), version: z.string() }),
    catalog: z.object({ version: z.string(), sha256: Hash }),
    rules: z.object({ version: z.string(), thresholds: z.record(z.string(), z.int()) }),
    organization: z.object({ id: z.string(), name: z.string() }),
    scope: z.object({
      statement: z.string(),
      categories: z.array(z.string()),
      role: FrameworkRole.nullable(),
      plan: z.string().nullable().describe('null where there was no organization yet'),
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
      anchor_mismatches: z.array(Seq).describe('Where an earlier checkpoint disagrees'),
    }),
    summary: ReportSummary,
    controls: z.array(ReportControl),
    findings: z.array(ReportFinding),
    metrics: z.array(ReportMetric),
    notice: z.string(),
  })
  .meta({ id: 'ReportContent' })
export type ReportContent = z.infer<typeof ReportContent>

const asked = { id: z.string(), framework: Framework, period: ReportPeriod }

/** A report with what is not hashed: when and by whom, and how the whole ledger stood then. */
export const ReadyReport = z
  .object({
    ...asked,
    status: z.literal('ready'),
    generated_at: Timestamp,
    generated_by: Actor,
    generated_by_person: z
      .string()
      .nullable()
      .optional()
      .describe('The person whom the key names; null for none'),
    evaluation: z
      .boolean()
      .describe('It was asked of a server that runs without a licence, to be tried'),
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
  .meta({ id: 'ReadyReport' })
export type ReadyReport = z.infer<typeof ReadyReport>

export const GeneratingReport = z
  .object({ ...asked, status: z.literal('generating'), requested_at: Timestamp })
  .meta({ id: 'GeneratingReport' })

export const FailedReport = z
  .object({
    ...asked,
    status: z.literal('failed'),
    requested_at: Timestamp,
    detail: z.string(),
  })
  .meta({ id: 'FailedReport' })

export const Report = z
  .discriminatedUnion('status', [ReadyReport, GeneratingReport, FailedReport])
  .meta({ id: 'Report' })
export type Report = z.infer<typeof Report>
