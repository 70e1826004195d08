import type {
  CsvPart,
  Figure,
  ReportCheck,
  ReportContent,
  ReportControl,
  ReportEvidence,
} from '@remit/contract'
import { csvText } from '@remit/contract/fit'
import type { CsvCell, CsvTable } from '@remit/contract/fit'
import { DAYS_TEXTS, evidenceTitle, figureText, unitText } from '@remit/contract/report-texts'

/** A part of a report as RFC 4180 text; equal content gives equal bytes. */
export const csvOf = (hashed: HashedContent, part: CsvPart = 'controls'): string =>
  csvText(tableOf(hashed, part))

/** Content with its hash. */
interface HashedContent {
  readonly content: ReportContent
  readonly sha256: string
}

type Row = Readonly<Record<string, CsvCell>>

/** A part of a report as a table. The row of a control has its primary evidence kind. */
const tableOf = (hashed: HashedContent, part: CsvPart): CsvTable => {
  const rows = PARTS[part](hashed)
  const columns = COLUMNS[part]
  return { columns, rows: rows.map((row) => columns.map((name) => row[name] ?? null)) }
}

const PERIOD = [
  'framework',
  'framework_version',
  'catalog_version',
  'organization_id',
  'organization',
  'period_from',
  'period_to',
] as const
const LEDGER = ['ledger_entries', 'ledger_hash', 'ledger_verified', 'content_sha256'] as const

const COLUMNS: Readonly<Record<CsvPart, readonly string[]>> = {
  controls: [
    ...PERIOD,
    'control_id',
    'control_title',
    'coverage',
    'status',
    'reason',
    'checks_passed',
    'checks_failed',
    'checks_too_small',
    'checks_too_young',
    'checks_not_applicable',
    'evidence_count',
    'first_seq',
    'last_seq',
    'sample_seqs',
    'sample_dates',
    'finding_ids',
    'finding_text',
    'record_shows',
    'organization_must_supply',
    ...LEDGER,
  ],
  checks: [
    ...PERIOD,
    'check_id',
    'check_title',
    'severity',
    'result',
    'carries',
    'found',
    'passes_when',
    'relaxed',
    'population',
    'basis',
    'basis_of',
    'least_basis',
    'days',
    'days_over',
    'least_days',
    'control_ids',
    ...LEDGER,
  ],
  findings: [
    ...PERIOD,
    'finding_id',
    'check_id',
    'check_title',
    'severity',
    'finding_text',
    'count',
    'seqs',
    'dates',
    'agents',
    'recorded_by',
    'fixed_seq',
    'fixed_at',
    'control_ids',
    ...LEDGER,
  ],
  metrics: [...PERIOD, 'metric_id', 'metric_name', 'unit', 'value', 'population', ...LEDGER],
  evidence: [
    ...PERIOD,
    'control_id',
    'evidence_kind',
    'evidence_title',
    'operated',
    'reason',
    'evidence_count',
    'first_seq',
    'last_seq',
    'sample_seqs',
    'sample_dates',
    ...LEDGER,
  ],
}

/** Columns of every row, so that a single row identifies its report. */
const common = ({ content, sha256 }: HashedContent): Row => ({
  framework: content.framework.id,
  framework_version: content.framework.version,
  catalog_version: content.catalog.version,
  organization_id: content.organization.id,
  organization: content.organization.name,
  period_from: content.period.from,
  period_to: content.period.to,
  ledger_entries: content.ledger.entries,
  ledger_hash: content.ledger.hash_at_last,
  ledger_verified: content.ledger.verified,
  content_sha256: sha256,
})

const PARTS: Readonly<Record<CsvPart, (hashed: HashedContent) => Row[]>> = {
  controls: (hashed) => hashed.content.controls.map((control) => controlRow(hashed, control)),

  checks: (hashed) => {
    const { controls } = hashed.content
    const checks = new Map(controls.flatMap((one) => one.checks).map((check) => [check.id, check]))
    return [...checks.values()].map((check) => checkRow(hashed, check))
  },

  findings: (hashed) =>
    hashed.content.findings.map((finding) => ({
      ...common(hashed),
      finding_id: finding.id,
      check_id: finding.check,
      check_title: finding.title ?? null,
      severity: finding.severity,
      finding_text: finding.text,
      count: finding.count,
      seqs: finding.seqs.join(' '),
      dates: datesCell(finding.dates),
      agents: finding.agents?.join(', ') ?? null,
      recorded_by: finding.keys?.join(', ') ?? null,
      fixed_seq: finding.fixed_seq ?? null,
      fixed_at: finding.fixed_at ?? null,
      control_ids: finding.controls.join(', '),
    })),

  metrics: (hashed) =>
    hashed.content.metrics.map((metric) => ({
      ...common(hashed),
      metric_id: metric.id,
      metric_name: metric.name,
      unit: unitText(metric.unit),
      value: figureCell(metric.value, metric.id),
      population: metric.population,
    })),

  evidence: (hashed) =>
    hashed.content.controls.flatMap((control) =>
      control.evidence.map((evidence) => ({
        ...common(hashed),
        control_id: control.id,
        evidence_kind: evidence.kind,
        evidence_title: evidenceTitle(evidence),
        operated: evidence.operated,
        reason: evidence.reason,
        ...evidenceCells(evidence),
      })),
    ),
}

const checkRow = (hashed: HashedContent, check: ReportCheck): Row => ({
  ...common(hashed),
  check_id: check.id,
  check_title: check.title,
  severity: check.severity,
  result: check.result,
  carries: check.carries ?? null,
  found: figureCell(check.value, check.id),
  passes_when: check.threshold,
  relaxed: check.relaxed,
  population: check.population,
  basis: check.basis ?? null,
  basis_of: check.least?.of ?? null,
  least_basis: check.least?.population ?? null,
  days: check.days ?? null,
  days_over: check.least ? DAYS_TEXTS[check.least.over] : null,
  least_days: check.least?.days ?? null,
  control_ids: hashed.content.controls
    .filter(({ checks }) => checks.some(({ id }) => id === check.id))
    .map(({ id }) => id)
    .join(', '),
})

function controlRow(hashed: HashedContent, control: ReportControl): Row {
  const texts = new Map(hashed.content.findings.map(({ id, text }) => [id, text]))
  const count = (result: string) => control.checks.filter((check) => check.result === result).length
  const [primary] = control.evidence
  return {
    ...common(hashed),
    control_id: control.id,
    control_title: control.title,
    coverage: control.coverage,
    status: control.status,
    reason: control.reason,
    // A pass that supports no control is not one of it.
    checks_passed: control.checks.filter(
      ({ result, carries }) => result === 'pass' && carries !== false,
    ).length,
    checks_failed: count('fail'),
    checks_too_small: count('too_small'),
    checks_too_young: count('too_young'),
    checks_not_applicable: count('not_applicable'),
    ...(primary && evidenceCells(primary)),
    finding_ids: control.findings.join(' '),
    finding_text: control.findings.map((id) => texts.get(id) ?? '').join(' | '),
    record_shows: control.record_shows?.join(' ') ?? null,
    organization_must_supply: control.organization_must_supply,
  }
}

/** One date per sequence number of the previous cell; `-` for an entry that is no longer kept. */
const datesCell = (dates: readonly (string | null)[] | undefined): CsvCell =>
  dates?.map((date) => date ?? '-').join(' ') ?? null

const evidenceCells = (evidence: ReportEvidence): Row => ({
  evidence_count: evidence.count,
  first_seq: evidence.first_seq,
  last_seq: evidence.last_seq,
  sample_seqs: evidence.sample.join(' '),
  sample_dates: datesCell(evidence.sample_dates),
})

/** Numbers stay numbers; other figures are as printed. `id`: of the metric or the check. */
const figureCell = (value: Figure, id: string): CsvCell =>
  value === null || typeof value === 'number' ? value : figureText(value, id)
