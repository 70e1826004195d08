import type { CsvPart, Figure, ReportContent, ReportControl, ReportEvidence } from '@remit/contract'
import { csvText } from '@remit/contract/fit'
import type { CsvCell, CsvTable } from '@remit/contract/fit'
import { DAYS_TEXTS, evidenceTitle, figureText, unitText } from '@remit/contract/report-texts'

/** A part of a report as RFC 4180 text; equal content gives equal bytes. */
export const csvOf = (hashed: HashedContent, part: CsvPart = 'controls'): string =>
  csvText(PARTS[part](hashed))

/** Content with its hash. */
interface HashedContent {
  readonly content: ReportContent
  readonly sha256: string
}

/** The cells of the row of an item, by column. */
type Columns<T> = Readonly<Record<string, (item: T, hashed: HashedContent) => CsvCell>>

const PERIOD: Columns<unknown> = {
  framework: (_, { content }) => content.framework.id,
  framework_version: (_, { content }) => content.framework.version,
  catalog_version: (_, { content }) => content.catalog.version,
  organization_id: (_, { content }) => content.organization.id,
  organization: (_, { content }) => content.organization.name,
  period_from: (_, { content }) => content.period.from,
  period_to: (_, { content }) => content.period.to,
}
const LEDGER: Columns<unknown> = {
  ledger_entries: (_, { content }) => content.ledger.entries,
  ledger_hash: (_, { content }) => content.ledger.hash_at_last,
  ledger_verified: (_, { content }) => content.ledger.verified,
  content_sha256: (_, { sha256 }) => sha256,
}

/** The table of some items. Every row has the columns that identify its report. */
const tableOf =
  <T>(items: (content: ReportContent) => readonly T[], own: Columns<T>) =>
  (hashed: HashedContent): CsvTable => {
    const columns: Columns<T> = { ...PERIOD, ...own, ...LEDGER }
    const cells = Object.values(columns)
    const rows = items(hashed.content).map((item) => cells.map((cell) => cell(item, hashed)))
    return { columns: Object.keys(columns), rows }
  }

/** One date per sequence number of the previous cell; `-` for an entry that is no longer kept. */
const datesCell = (dates: readonly (string | null)[] | undefined): CsvCell =>
  dates?.map((date) => date ?? '-').join(' ') ?? null

/** Numbers stay numbers; other figures are as printed. `id`: of the metric or the check. */
const figureCell = (value: Figure, id: string): CsvCell =>
  value === null || typeof value === 'number' ? value : figureText(value, id)

/** The columns of a kind of evidence; empty where an item has none. */
const evidenceColumns = <T>(of: (item: T) => ReportEvidence | undefined): Columns<T> => ({
  evidence_count: (item) => of(item)?.count ?? null,
  first_seq: (item) => of(item)?.first_seq ?? null,
  last_seq: (item) => of(item)?.last_seq ?? null,
  sample_seqs: (item) => of(item)?.sample.join(' ') ?? null,
  sample_dates: (item) => datesCell(of(item)?.sample_dates),
})

const countOf = ({ checks }: ReportControl, wanted: string): number =>
  checks.filter(({ result }) => result === wanted).length

const PARTS: Readonly<Record<CsvPart, (hashed: HashedContent) => CsvTable>> = {
  /** The row of a control has its primary evidence kind. */
  controls: tableOf(({ controls }) => controls, {
    control_id: ({ id }) => id,
    control_title: ({ title }) => title,
    coverage: ({ coverage }) => coverage,
    status: ({ status }) => status,
    reason: ({ reason }) => reason,
    // A pass that supports no control is not one of it.
    checks_passed: ({ checks }) =>
      checks.filter(({ result, carries }) => result === 'pass' && carries !== false).length,
    checks_failed: (control) => countOf(control, 'fail'),
    checks_too_small: (control) => countOf(control, 'too_small'),
    checks_too_young: (control) => countOf(control, 'too_young'),
    checks_not_applicable: (control) => countOf(control, 'not_applicable'),
    ...evidenceColumns<ReportControl>(({ evidence }) => evidence[0]),
    finding_ids: ({ findings }) => findings.join(' '),
    finding_text: ({ findings }, { content }) =>
      findings
        .map((id) => content.findings.find((finding) => finding.id === id)?.text ?? '')
        .join(' | '),
    record_shows: ({ record_shows: shown }) => shown?.join(' ') ?? null,
    organization_must_supply: ({ organization_must_supply: supply }) => supply,
  }),

  checks: tableOf(
    ({ controls }) => [
      ...new Map(controls.flatMap(({ checks }) => checks).map((one) => [one.id, one])).values(),
    ],
    {
      check_id: ({ id }) => id,
      check_title: ({ title }) => title,
      severity: ({ severity }) => severity,
      result: ({ result }) => result,
      carries: ({ carries }) => carries ?? null,
      found: ({ value, id }) => figureCell(value, id),
      passes_when: ({ threshold }) => threshold,
      relaxed: ({ relaxed }) => relaxed,
      population: ({ population }) => population,
      basis: ({ basis }) => basis ?? null,
      basis_of: ({ least }) => least?.of ?? null,
      least_basis: ({ least }) => least?.population ?? null,
      days: ({ days }) => days ?? null,
      days_over: ({ least }) => (least ? DAYS_TEXTS[least.over] : null),
      least_days: ({ least }) => least?.days ?? null,
      control_ids: ({ id }, { content }) =>
        content.controls
          .filter(({ checks }) => checks.some((one) => one.id === id))
          .map((control) => control.id)
          .join(', '),
    },
  ),

  findings: tableOf(({ findings }) => findings, {
    finding_id: ({ id }) => id,
    check_id: ({ check }) => check,
    check_title: ({ title }) => title ?? null,
    severity: ({ severity }) => severity,
    finding_text: ({ text }) => text,
    count: ({ count }) => count,
    seqs: ({ seqs }) => seqs.join(' '),
    dates: ({ dates }) => datesCell(dates),
    agents: ({ agents }) => agents?.join(', ') ?? null,
    recorded_by: ({ keys }) => keys?.join(', ') ?? null,
    fixed_seq: ({ fixed_seq: seq }) => seq ?? null,
    fixed_at: ({ fixed_at: at }) => at ?? null,
    control_ids: ({ controls }) => controls.join(', '),
  }),

  metrics: tableOf(({ metrics }) => metrics, {
    metric_id: ({ id }) => id,
    metric_name: ({ name }) => name,
    unit: ({ unit }) => unitText(unit),
    value: ({ value, id }) => figureCell(value, id),
    population: ({ population }) => population,
  }),

  evidence: tableOf(
    ({ controls }) => controls.flatMap(({ id, evidence }) => evidence.map((of) => ({ id, of }))),
    {
      control_id: ({ id }) => id,
      evidence_kind: ({ of }) => of.kind,
      evidence_title: ({ of }) => evidenceTitle(of),
      operated: ({ of }) => of.operated,
      reason: ({ of }) => of.reason,
      ...evidenceColumns<{ readonly of: ReportEvidence }>(({ of }) => of),
    },
  ),
}
