import { hash } from 'node:crypto'
import { canonicalJson } from '@remit/contract/json'
import { isoTime } from '@remit/core/base'
import type {
  ReportCheck,
  ReportContent,
  ReportControl,
  ReportEvidence,
  ReportFinding,
  ReportMetric,
  ReportSummary,
} from '@remit/contract'
import { CHECKS, EVIDENCE_KINDS, METRICS } from '../catalogue/catalogue.ts'
import type { Catalogue, CheckDefinition, Control } from '../catalogue/definitions.ts'
import { controlsIn, scopeStatement } from '../catalogue/report-scope.ts'
import type { ReportScope } from '../catalogue/report-scope.ts'
import { RULES_VERSION } from '../facts/index.ts'
import type { Evidence, PeriodFacts } from '../facts/index.ts'
import { controlsOf, findingsOf, isAboutAll } from './findings.ts'
import { recordShows } from './record-shows.ts'
import { basisOf, checksOf, daysOf, resultOf, statusOf } from './status.ts'
import type { StatusInputs } from './status.ts'

/**
 * The content of a report, a pure function of the request and the facts. It is independent of the
 * time of the request, the host, its locale and the order of rows.
 */
export function contentOf(
  catalogue: Catalogue,
  scope: ReportScope,
  facts: PeriodFacts,
): ReportContent {
  const { framework } = catalogue
  const inScope = controlsIn(catalogue, scope)
  const standing = standingOf(facts)
  const controlsAbout = controlsOf(framework, inScope)
  const findings = findingsOf(facts, controlsAbout)
  const failed = new Set(findings.map(({ check }) => check))
  const controls = inScope.map((control) => {
    const own = checksOf(framework.id, control.id)
    const others = [...CHECKS.values()].filter(
      (check) =>
        failed.has(check.id) &&
        !check.controls[framework.id].includes(control.id) &&
        !isAboutAll(check) &&
        controlsAbout(check).includes(control.id),
    )
    return controlOf(control, [...own, ...others], standing, findings, facts.entries)
  })
  return wellFormed({
    schema: 'report/1',
    framework: { id: framework.id, name: framework.name, version: framework.version },
    catalog: { version: framework.catalog_version, sha256: catalogue.sha256 },
    rules: { version: RULES_VERSION, thresholds: { ...facts.question.thresholds } },
    organization: { id: facts.organization.id, name: facts.organization.name },
    scope: {
      statement: scopeStatement(catalogue, scope),
      categories: [...scope.categories],
      role: scope.role,
      plan: facts.organization.plan,
    },
    period: { from: isoTime(facts.question.from), to: isoTime(facts.question.to) },
    ledger: ledgerOf(facts, standing.ledgerVerified),
    summary: summaryOf(controls, findings),
    controls,
    findings,
    metrics: metricsOf(facts),
    notice: framework.notice,
  })
}

/** Repairs lone surrogates, which a forged entry may contain and JSON text must not. */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T
  if (Array.isArray(value)) return value.map(wellFormed) as T
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as Record<string, unknown>).map(
    ([name, one]): [string, unknown] => [name.toWellFormed(), wellFormed(one)],
  )
  return Object.fromEntries(members) as T
}

/** The stored and hashed bytes (RFC 8785), and their hash. */
export function sealed(content: ReportContent): { text: string; sha256: string } {
  const text = canonicalJson(content)
  return { text, sha256: hash('sha256', text, 'hex') }
}

function standingOf({
  outside: { chain },
  organization,
  checks,
  evidence,
  days,
}: PeriodFacts): StatusInputs {
  return {
    ledgerVerified: chain.firstBadSeq === null && chain.mismatches.length === 0,
    plan: organization.plan,
    outcomes: new Map(checks.map((outcome) => [outcome.check, outcome])),
    evidence: new Map(evidence.map((one) => [one.kind, one])),
    days,
  }
}

function controlOf(
  control: Control,
  definitions: readonly CheckDefinition[],
  standing: StatusInputs,
  findings: readonly ReportFinding[],
  entries: PeriodFacts['entries'],
): ReportControl {
  const { id, title, coverage, supply } = control
  const verdict = statusOf(control, definitions, standing)
  const checks = definitions.map((check) => checkOf(check, standing))
  const evidence = control.evidence.flatMap((kind) =>
    evidenceOf(standing.evidence.get(kind), entries),
  )
  return {
    id,
    title,
    coverage,
    ...verdict,
    checks,
    findings: findings.filter(({ controls }) => controls.includes(id)).map((one) => one.id),
    evidence,
    record_shows: recordShows(verdict, checks, evidence),
    organization_must_supply: supply.join(' '),
  }
}

function checkOf(check: CheckDefinition, { outcomes, days }: StatusInputs): ReportCheck {
  const { id, title, severity, least, carries } = check
  const outcome = outcomes.get(id)
  const counted = daysOf(check, outcome, days)
  return {
    id,
    title,
    severity,
    result: resultOf(check, outcome, days),
    carries,
    value: outcome?.value ?? null,
    threshold: outcome?.threshold ?? check.passes_when,
    relaxed: outcome?.relaxed ?? false,
    population: outcome?.population ?? 0,
    basis: outcome ? basisOf(outcome) : 0,
    days: counted.days,
    least: { ...least, ...counted.least },
  }
}

const evidenceOf = (
  evidence: Evidence | undefined,
  entries: PeriodFacts['entries'],
): ReportEvidence[] =>
  evidence
    ? [
        {
          kind: evidence.kind,
          title: EVIDENCE_KINDS.get(evidence.kind)?.title ?? evidence.kind,
          operated: evidence.operated,
          reason: evidence.reason,
          count: evidence.count,
          first_seq: evidence.firstSeq,
          last_seq: evidence.lastSeq,
          sample: [...evidence.sample],
          sample_dates: evidence.sample.map((seq) => entries.get(seq)?.at ?? null),
        },
      ]
    : []

function ledgerOf({ ledger, outside: { chain } }: PeriodFacts, verified: boolean) {
  const seqs = chain.mismatches.map(({ seq }) => seq).toSorted((a, b) => a - b)
  return {
    first_seq: ledger.firstSeq,
    last_seq: ledger.lastSeq,
    entries: ledger.entries,
    by_kind: { ...ledger.byKind },
    // The hash of the last entry before the end, which an empty period does not have.
    hash_at_last: ledger.lastSeq === null ? null : chain.hashAtLast,
    verified,
    verified_from_seq: chain.verifiedFromSeq,
    first_bad_seq: chain.firstBadSeq,
    anchor_mismatches: [...new Set(seqs)],
  }
}

function summaryOf(
  controls: readonly ReportControl[],
  findings: readonly ReportFinding[],
): ReportSummary {
  const counts = { satisfied: 0, attention: 0, not_evidenced: 0, manual: 0 }
  for (const { status } of controls) counts[status]++
  const open = { open_critical: 0, open_high: 0, open_medium: 0, open_low: 0 }
  for (const { severity, fixed_seq } of findings) if (fixed_seq == null) open[`open_${severity}`]++
  return { total: controls.length, ...counts, ...open }
}

/** All metrics of the catalogue; a metric without a measurement is null with population 0. */
function metricsOf({ metrics }: PeriodFacts): ReportMetric[] {
  const measured = new Map(metrics.map((metric) => [metric.id, metric]))
  return [...METRICS.values()].map(({ id, name, unit }) => {
    const { value, population } = measured.get(id) ?? { value: null, population: 0 }
    return { id, name, value, unit, population }
  })
}
