import { hash } from 'node:crypto'
import { isoTime, canonicalJson } from '@remit/core'
import type {
  ReportCheck,
  ReportContent,
  ReportControl,
  ReportEvidence,
  ReportFinding,
  ReportMetric,
  ReportSummary,
} from '@remit/contract'
import { METRICS } from '../catalogue/catalogue.ts'
import type { Catalogue, CheckDefinition, Control } from '../catalogue/definitions.ts'
import { controlsIn, scopeStatement } from '../catalogue/scope.ts'
import type { Scope } from '../catalogue/scope.ts'
import { RULES_VERSION } from '../facts/index.ts'
import type { Evidence, Facts, Outcome } from '../facts/index.ts'
import { controlsOf, findingsOf } from './findings.ts'
import { checksOf, isApplicable, statusOf } from './status.ts'
import type { Standing } from './status.ts'

/**
 * The content of a report: a function of what was asked and of the facts, of nothing else. Neither
 * the time of asking nor the host, its locale or the order of rows in the database is in it.
 */
export function contentOf(catalogue: Catalogue, scope: Scope, facts: Facts): ReportContent {
  const { framework } = catalogue
  const inScope = controlsIn(catalogue, scope)
  const standing = standingOf(facts)
  const findings = findingsOf(facts.checks, controlsOf(framework.id, inScope))
  const controls = inScope.map((control) =>
    controlOf(control, checksOf(framework.id, control.id), standing, findings),
  )
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
    summary: summaryOf(controls),
    controls,
    findings,
    metrics: metricsOf(facts),
    notice: framework.notice,
  })
}

/** A forged entry may hold half a surrogate pair, which no JSON text may; the report is made all the same. */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T
  if (Array.isArray(value)) return value.map(wellFormed) as T
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as Record<string, unknown>).map(
    ([name, one]): [string, unknown] => [name.toWellFormed(), wellFormed(one)],
  )
  return Object.fromEntries(members) as T
}

/** The bytes that are kept and hashed (RFC 8785), and their hash. */
export function sealed(content: ReportContent): { text: string; sha256: string } {
  const text = canonicalJson(content)
  return { text, sha256: hash('sha256', text, 'hex') }
}

function standingOf({ outside: { chain }, organization, checks, evidence }: Facts): Standing {
  return {
    ledgerVerified: chain.firstBadSeq === null && chain.mismatches.length === 0,
    plan: organization.plan,
    outcomes: new Map(checks.map((outcome) => [outcome.check, outcome])),
    evidence: new Map(evidence.map((one) => [one.kind, one])),
  }
}

function controlOf(
  control: Control,
  checks: readonly CheckDefinition[],
  standing: Standing,
  findings: readonly ReportFinding[],
): ReportControl {
  const { id, title, coverage, rationale } = control
  return {
    id,
    title,
    coverage,
    ...statusOf(control, checks, standing),
    checks: checks.map((check) => checkOf(check, standing.outcomes.get(check.id))),
    findings: findings.filter(({ controls }) => controls.includes(id)).map((one) => one.id),
    evidence: control.evidence.flatMap((kind) => evidenceOf(standing.evidence.get(kind))),
    organization_must_supply: rationale,
  }
}

function checkOf(check: CheckDefinition, outcome: Outcome | undefined): ReportCheck {
  const { id, title, severity } = check
  return {
    id,
    title,
    severity,
    result: isApplicable(outcome) ? (outcome.ok ? 'pass' : 'fail') : 'not_applicable',
    value: outcome?.value ?? null,
    threshold: outcome?.threshold ?? check.passes_when,
    relaxed: outcome?.relaxed ?? false,
    population: outcome?.population ?? 0,
  }
}

const evidenceOf = (evidence: Evidence | undefined): ReportEvidence[] =>
  evidence
    ? [
        {
          kind: evidence.kind,
          operated: evidence.operated,
          reason: evidence.reason,
          count: evidence.count,
          first_seq: evidence.firstSeq,
          last_seq: evidence.lastSeq,
          sample: [...evidence.sample],
        },
      ]
    : []

function ledgerOf({ ledger, outside: { chain } }: Facts, verified: boolean) {
  const seqs = chain.mismatches.map(({ seq }) => seq).toSorted((a, b) => a - b)
  return {
    first_seq: ledger.firstSeq,
    last_seq: ledger.lastSeq,
    entries: ledger.entries,
    by_kind: { ...ledger.byKind },
    // The hash is of the last entry before the end, which an empty period does not have.
    hash_at_last: ledger.lastSeq === null ? null : chain.hashAtLast,
    verified,
    verified_from_seq: chain.verifiedFromSeq,
    first_bad_seq: chain.firstBadSeq,
    anchor_mismatches: [...new Set(seqs)],
  }
}

function summaryOf(controls: readonly ReportControl[]): ReportSummary {
  const counts = { satisfied: 0, attention: 0, not_evidenced: 0, manual: 0 }
  for (const { status } of controls) counts[status]++
  return { total: controls.length, ...counts }
}

/** All metrics of the catalogue; what was not measured is null over nothing. */
function metricsOf({ metrics }: Facts): ReportMetric[] {
  const measured = new Map(metrics.map((metric) => [metric.id, metric]))
  return [...METRICS.values()].map(({ id, name, unit }) => {
    const { value, population } = measured.get(id) ?? { value: null, population: 0 }
    return { id, name, value, unit, population }
  })
}
