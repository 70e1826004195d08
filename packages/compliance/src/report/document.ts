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
  Severity,
} from '@remit/contract'
import { evidenceTitle, populationText, dayText } from '@remit/contract/report-texts'
import { CHECKS, METRICS } from '../catalogue/catalogue.ts'
import { EVIDENCE_KINDS } from '../facts/evidence-kinds.ts'
import type {
  Catalogue,
  CheckDefinition,
  Control,
  FrameworkDefinition,
} from '../catalogue/definitions.ts'
import { controlsIn, scopeStatement } from '../catalogue/report-scope.ts'
import type { ReportScope } from '../catalogue/report-scope.ts'
import { RULES_VERSION } from '../facts/index.ts'
import type {
  Evidence,
  PeriodFacts,
  EntryNote,
  CheckFailure,
  CheckOutcome,
} from '../facts/index.ts'
import { basisOf, checksOf, daysOf, resultOf, statusOf, isApplicable } from './status.ts'
import type { StatusInputs, ControlResult } from './status.ts'

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

/**
 * The evidence of a control, with figures: kinds that operated, and checks that passed. A control with
 * a failed check has only the checks that passed, and one that cannot be judged has nothing.
 */
function recordShows(
  { status, reason }: ControlResult,
  checks: readonly ReportCheck[],
  evidence: readonly ReportEvidence[],
): string[] {
  const passed = checks.filter(({ id, result }) => result === 'pass' && CHECKS.get(id)?.carries)
  if (status === 'satisfied')
    return [...evidence.filter(isShown).map(entriesOf), ...passed.map(passOf)]
  return reason === 'check_failed' ? passed.map(passOf) : []
}

/** The checks of the ledger describe the record as a whole better than its number of entries. */
const isShown = ({ kind, operated }: ReportEvidence): boolean =>
  operated && EVIDENCE_KINDS.get(kind)?.reads.includes('*') === false

const entriesOf = (evidence: ReportEvidence): string =>
  `${evidenceTitle(evidence)}: ${evidence.count} ${evidence.count === 1 ? 'entry' : 'entries'}.`

const passOf = (check: ReportCheck): string =>
  `${check.id} ${check.title}: ${check.threshold}; ${populationText(check)}.`

const RANK: Readonly<Record<Severity, number>> = { critical: 0, high: 1, medium: 2, low: 3 }
// Limits the findings of one check: a report must not grow with the number of agents.
const MOST_OF_A_CHECK = 100
const MOST_SEQS = 50

/** A check concerns the controls that name it; these concern all computed controls. */
const ABOUT_ALL: ReadonlySet<string> = new Set(['LED-1', 'LED-7', 'LED-8'])

const isAboutAll = ({ id }: CheckDefinition): boolean => ABOUT_ALL.has(id)

/** The controls of the report that a check concerns. */
type ControlsOf = (check: CheckDefinition) => readonly string[]

/**
 * The controls in scope that a failed check concerns. A serious failure that none of them names
 * concerns the framework's fallback control.
 */
const controlsOf =
  (
    { id: framework, fallback }: Pick<FrameworkDefinition, 'id' | 'fallback'>,
    inScope: readonly { readonly id: string; readonly coverage: string }[],
  ): ControlsOf =>
  (check) => {
    const named = inScope.filter(({ id, coverage }) =>
      isAboutAll(check) ? coverage !== 'manual' : check.controls[framework].includes(id),
    )
    if (named.length > 0 || RANK[check.severity] > RANK.high) return named.map(({ id }) => id)
    return fallback.filter((id) => inScope.some((one) => one.id === id)).slice(0, 1)
  }

interface FindingDraft {
  readonly check: CheckDefinition
  readonly text: string
  readonly count: number
  readonly seqs: readonly number[]
  readonly fixedBy: number | null
}

/** Findings, the most severe first, numbered. The order depends only on the facts. */
const findingsOf = (
  { checks, entries }: Pick<PeriodFacts, 'checks' | 'entries'>,
  controls: ControlsOf,
): ReportFinding[] =>
  checks
    .flatMap(foundBy)
    .toSorted(inOrder)
    .map((found, i) => {
      const { check, text, count, seqs, fixedBy } = found
      const named = namedIn(found, entries)
      return {
        id: `F-${String(i + 1).padStart(4, '0')}`,
        check: check.id,
        title: check.title,
        severity: check.severity,
        text: [text, ...sentencesOf(named, found, entries)].join(' '),
        count,
        seqs: [...seqs],
        dates: seqs.map((seq) => entries.get(seq)?.at ?? null),
        ...named,
        fixed_seq: fixedBy,
        fixed_at: fixedBy === null ? null : (entries.get(fixedBy)?.at ?? null),
        controls: [...controls(check)],
      }
    })

interface Named {
  readonly agents: string[]
  readonly keys: string[]
}

/** The agents and keys of a finding's entries; findings about the chain have none. */
function namedIn({ check, seqs }: FindingDraft, entries: PeriodFacts['entries']): Named {
  if (check.id.startsWith('LED-') || check.id === 'REP-1') return { agents: [], keys: [] }
  const all = (of: (note: EntryNote) => string | null): string[] => [
    ...new Set(seqs.flatMap((seq) => of(entries.get(seq) ?? NOBODY) ?? [])),
  ]
  return { agents: all(({ agentId }) => agentId), keys: all(({ by }) => by) }
}

const NOBODY: EntryNote = { at: '', agentId: null, by: null }
/** The most names of one sentence; the lists have all of them. */
const MOST_NAMES = 10

/** The agents, keys, dates and correction of a finding, as sentences after its text. */
function sentencesOf(
  { agents, keys }: Named,
  found: FindingDraft,
  entries: PeriodFacts['entries'],
): string[] {
  const { count, seqs, fixedBy } = found
  const days = seqs.flatMap((seq) => entries.get(seq)?.at.slice(0, 10) ?? []).toSorted()
  const first = days[0]
  const last = days.at(-1)
  const sentences = [
    ...namesSentence('Agents', agents, found),
    ...namesSentence('Recorded by', keys, found),
  ]
  if (first !== undefined && last !== undefined) {
    const until = count > seqs.length ? 'and later' : `to ${dayText(Date.parse(last))}`
    sentences.push(
      `Dates: ${dayText(Date.parse(first))}${first === last && count <= seqs.length ? '' : ` ${until}`}.`,
    )
  }
  const at = fixedBy === null ? undefined : entries.get(fixedBy)?.at
  if (fixedBy !== null)
    sentences.push(
      `Corrected by entry ${fixedBy}${at === undefined ? '' : ` on ${dayText(Date.parse(at))}`}.`,
    )
  return sentences
}

function namesSentence(
  title: string,
  names: readonly string[],
  { count, seqs }: FindingDraft,
): string[] {
  if (names.length === 0) return []
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  const where = count > seqs.length ? `, in the first ${seqs.length} entries` : ''
  return [`${title}: ${names.slice(0, MOST_NAMES).join(', ')}${more}${where}.`]
}

function foundBy(outcome: CheckOutcome): FindingDraft[] {
  const check = CHECKS.get(outcome.check)
  if (!check || !isApplicable(outcome) || outcome.ok) return []
  const found = outcome.failures.map((failure) => foundOf(check, failure)).toSorted(inOrder)
  return [...found.slice(0, MOST_OF_A_CHECK), ...restOf(check, found.slice(MOST_OF_A_CHECK))]
}

const foundOf = (
  check: CheckDefinition,
  { params, count, seqs, fixedBy }: CheckFailure,
): FindingDraft => ({
  check,
  text: textOf(check.finding, params),
  count,
  seqs: seqs.slice(0, MOST_SEQS),
  fixedBy: fixedBy ?? null,
})

/** One finding for all that are omitted, open while one of them is. */
function restOf(check: CheckDefinition, rest: readonly FindingDraft[]): FindingDraft[] {
  if (rest.length === 0) return []
  const seqs = rest.flatMap((one) => one.seqs).toSorted((a, b) => a - b)
  return [
    {
      check,
      text: `${rest.length} more like these.`,
      count: rest.reduce((sum, { count }) => sum + count, 0),
      seqs: seqs.slice(0, MOST_SEQS),
      fixedBy: rest.reduce<number | null>(
        (last, { fixedBy }) => (last === null || fixedBy === null ? null : Math.max(last, fixedBy)),
        0,
      ),
    },
  ]
}

/** Fills the template of the catalogue; parameter values are never interpreted as templates. */
const textOf = (template: string, params: CheckFailure['params']): string =>
  template.replace(
    /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g,
    (_, name: string, one?: string, many?: string) => {
      const value = Object.hasOwn(params, name) ? String(params[name]) : 'unknown'
      return one === undefined ? value : `${value} ${value === '1' ? one : many}`
    },
  )

const firstSeq = ({ seqs }: FindingDraft): number => seqs[0] ?? Number.MAX_SAFE_INTEGER

const inOrder = (a: FindingDraft, b: FindingDraft): number =>
  RANK[a.check.severity] - RANK[b.check.severity] ||
  byCodeUnit(a.check.id, b.check.id) ||
  firstSeq(a) - firstSeq(b) ||
  byCodeUnit(a.text, b.text)

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
