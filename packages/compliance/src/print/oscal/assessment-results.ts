import { createHash } from 'node:crypto'
import type {
  ReadyReport,
  ReportControl,
  ReportCheck,
  ReportEvidence,
  ReportFinding,
} from '@remit/contract'
import {
  EVALUATION_NOTICE,
  periodText,
  REASON_TEXTS,
  STATUS_MEANINGS,
  STATUS_TEXTS,
  datedText,
  evidenceTitle,
  figureText,
  populationText,
  resultText,
  seqText,
} from '@remit/contract/report-texts'
import { spellOut } from '@remit/contract/fit'

const OSCAL_VERSION = '1.2.1'

/**
 * A report as OSCAL assessment-results (NIST, version 1.2.1) in JSON text. Identifiers derive from
 * the content hash, so equal reports have equal bytes. Data without an OSCAL field is in our own
 * properties.
 */
export const oscalOf = (report: ReadyReport): string =>
  `${JSON.stringify({ 'assessment-results': assessmentResults(report) })}\n`

function assessmentResults(report: ReadyReport): object {
  const { content_sha256: sha256 } = report
  const plan = uuidOf(sha256, 'no-plan')
  return {
    uuid: uuidOf(sha256, 'assessment-results'),
    metadata: metadataOf(report),
    'import-ap': { href: `#${plan}`, remarks: NO_PLAN },
    results: [resultOf(report)],
    'back-matter': {
      resources: [
        { uuid: plan, title: 'No assessment plan', description: NO_PLAN },
        {
          uuid: uuidOf(sha256, 'document'),
          title: 'The report',
          description:
            'The exact record is the JSON document of the report. Its content’s hash is that of its canonical JSON (RFC 8785), and an entry of the ledger records it.',
          props: propsOf({ 'content-sha256': sha256, 'record-seq': report.record_seq }),
          rlinks: [
            { href: `/v1/compliance/reports/${report.id}`, 'media-type': 'application/json' },
          ],
        },
      ],
    },
  }
}

const NO_PLAN =
  'There is no assessment plan: the report was computed from the ledger of a server. OSCAL requires this reference.'

function metadataOf(report: ReadyReport): object {
  const { content, content_sha256: sha256 } = report
  const { framework, organization, period } = content
  return {
    title: `Evidence for ${plain(framework.name)}: ${plain(organization.name)}, ${periodText(period)}`,
    'last-modified': report.generated_at,
    version: sha256,
    'oscal-version': OSCAL_VERSION,
    props: [
      ...propsOf({
        'report-id': report.id,
        framework: framework.id,
        'framework-version': framework.version,
        'catalog-version': content.catalog.version,
        'catalog-sha256': content.catalog.sha256,
        'content-sha256': sha256,
        'record-seq': report.record_seq,
      }),
      ...(report.evaluation ? [prop('evaluation', true, { remarks: EVALUATION_NOTICE })] : []),
      ...propsOf({
        'checkpoint-seq': report.ledger_head.size - 1,
        'checkpoint-hash': report.ledger_head.hash,
      }),
    ],
    parties: [
      {
        uuid: uuidOf(sha256, 'organization'),
        type: 'organization',
        name: oneLine(organization.name),
        props: [prop('organization-id', organization.id)],
      },
    ],
    remarks: plain(content.notice),
  }
}

function resultOf(report: ReadyReport): object {
  const { content, content_sha256: sha256 } = report
  const { ledger, summary, period } = content
  return {
    uuid: uuidOf(sha256, 'result'),
    title: `${plain(content.framework.name)}, ${periodText(period)}`,
    description: plain(content.scope.statement),
    start: period.from,
    end: period.to,
    props: [
      ...propsOf({
        'ledger-verified': ledger.verified,
        'ledger-entries': ledger.entries,
        'ledger-hash': ledger.hash_at_last,
        'ledger-first-bad-seq': ledger.first_bad_seq,
      }),
      ...Object.entries(summary).map(([name, count]) => countProp(name, count ?? 0)),
    ],
    'reviewed-controls': { 'control-selections': [selectionOf(content.controls)] },
    observations: observationsOf(report),
    ...listed('findings', findingsOf(report)),
    remarks: 'The end is the first moment that is not in the period.',
  }
}

/** Controls by status, or open findings by severity. */
const countProp = (name: string, count: number): Prop =>
  name.startsWith('open_')
    ? prop('open-findings', count, { class: name.slice('open_'.length) })
    : prop('controls', count, { class: name.replaceAll('_', '-') })

/** The assessed controls; manual ones are listed as excluded. */
function selectionOf(controls: readonly ReportControl[]): object {
  const shown = controls.filter(({ coverage }) => coverage !== 'manual')
  const manual = controls.filter(({ coverage }) => coverage === 'manual')
  const select = ({ id }: ReportControl) => ({ 'control-id': tokenOf(id) })
  return {
    // If all controls are manual, none is included; OSCAL has no empty list.
    ...(shown.length === 0 ? { 'include-all': {} } : { 'include-controls': shown.map(select) }),
    ...listed('exclude-controls', manual.map(select)),
  }
}

/**
 * One finding per assessed control. Controls without evidence and manual controls have none, since
 * both OSCAL states would be wrong for them.
 */
const findingsOf = (report: ReadyReport): object[] =>
  report.content.controls
    .filter(({ status }) => status === 'satisfied' || status === 'attention')
    .map((control) => findingOf(report, control))

const findingOf = (report: ReadyReport, control: ReportControl): object => ({
  uuid: uuidOf(report.content_sha256, 'finding', control.id),
  title: `${plain(control.id)}: ${plain(control.title)}`,
  description: describe(control),
  props: statusProps(control),
  target: {
    type: 'objective-id',
    'target-id': tokenOf(control.id),
    status: {
      state: control.status === 'satisfied' ? 'satisfied' : 'not-satisfied',
      reason: oscalReason(control),
    },
  },
  'related-observations': [
    { 'observation-uuid': controlObservationId(report, control.id) },
    ...control.findings.map((id) => ({ 'observation-uuid': findingObservationId(report, id) })),
  ],
})

function describe({ status, reason, findings }: ReportControl): string {
  if (status === 'satisfied') return STATUS_MEANINGS[status]
  const why = reason === null ? '' : `: ${REASON_TEXTS[reason]}`
  return `${STATUS_TEXTS[status]}${why}.${findings.length === 0 ? '' : ` See ${findings.join(', ')}.`}`
}

function oscalReason({ status, reason }: ReportControl): 'pass' | 'fail' | 'other' {
  if (status === 'satisfied') return 'pass'
  return reason === 'check_failed' ? 'fail' : 'other'
}

/** The observation ids of controls and of findings. */
const controlObservationId = (report: ReadyReport, control: string): string =>
  uuidOf(report.content_sha256, 'observation', control)
const findingObservationId = (report: ReadyReport, finding: string): string =>
  uuidOf(report.content_sha256, 'observation-of-finding', finding)

/** One observation per control with its exact status, and one per finding. */
const observationsOf = (report: ReadyReport): object[] => [
  ...report.content.controls.map((control) => ofControl(report, control)),
  ...report.content.findings.map((finding) => ofFinding(report, finding)),
]

/** Our status: OSCAL only has satisfied and not-satisfied. */
const statusProps = ({ id, status, reason, coverage }: ReportControl): Prop[] =>
  propsOf({ 'control-id': id, status, 'status-reason': reason, coverage })

const ofControl = (report: ReadyReport, control: ReportControl): object => ({
  uuid: controlObservationId(report, control.id),
  title: `${plain(control.id)}: ${plain(control.title)}`,
  description: [
    ...(control.record_shows ?? []).map((sentence) => `The record shows: ${plain(sentence)}`),
    plain(control.organization_must_supply),
  ].join(' '),
  props: [...statusProps(control), ...control.checks.map(checkProp)],
  // Controls without recorded evidence by design were not examined.
  methods: [control.coverage === 'manual' ? 'UNKNOWN' : 'EXAMINE'],
  types: ['control-objective'],
  ...listed('relevant-evidence', control.evidence.map(evidenceOf)),
  collected: report.generated_at,
})

const checkProp = (check: ReportCheck): Prop =>
  prop('check', check.result, {
    class: check.id,
    remarks: plain(
      `${check.title}, ${check.severity}: ${resultText(check)}; ${figureText(check.value, check.id)}; passes when: ${check.threshold}${check.relaxed ? ' (relaxed)' : ''}; population: ${populationText(check)}`,
    ),
  })

const evidenceOf = (evidence: ReportEvidence): object => ({
  description: `${evidenceTitle(evidence)}: ${evidence.count} ${evidence.count === 1 ? 'entry' : 'entries'} of the ledger`,
  props: propsOf({
    'evidence-kind': evidence.kind,
    operated: evidence.operated,
    reason: evidence.reason,
    count: evidence.count,
    'first-seq': evidence.first_seq,
    'last-seq': evidence.last_seq,
    ...seqValues('sample-seqs', 'sample-with-dates', evidence.sample, evidence.sample_dates),
  }),
})

const ofFinding = (report: ReadyReport, finding: ReportFinding): object => ({
  uuid: findingObservationId(report, finding.id),
  title: `${finding.id}: ${finding.check}${finding.title === undefined ? '' : ` ${plain(finding.title)}`}`,
  description: plain(finding.text),
  props: [
    ...propsOf({
      'finding-id': finding.id,
      'check-id': finding.check,
      severity: finding.severity,
      count: finding.count,
      ...seqValues('seqs', 'seqs-with-dates', finding.seqs, finding.dates),
    }),
    ...(finding.agents ?? []).map((agent) => prop('agent', agent)),
    ...(finding.keys ?? []).map((key) => prop('recorded-by', key)),
    ...propsOf({ 'fixed-seq': finding.fixed_seq }),
    ...finding.controls.map((control) =>
      prop('about-control', control, { class: tokenOf(control) }),
    ),
  ],
  methods: ['EXAMINE'],
  types: ['finding'],
  collected: report.generated_at,
})

/** The values of properties with sequence numbers, without and with dates; none without numbers. */
const seqValues = (
  name: string,
  nameWithDates: string,
  seqs: readonly number[],
  dates: readonly (string | null)[] | undefined,
): PropValues =>
  seqs.length === 0
    ? {}
    : { [name]: seqText(seqs), [nameWithDates]: dates && datedText(seqs, dates) }

/** The namespace of the identifiers in our OSCAL documents, generated once at random. */
const NAMESPACE = Buffer.from('6f0c8bb2a1e94d7c9d35f1c2a4be7e10', 'hex')

/** A UUID of version 5 (RFC 9562 section 5.5): equal names give equal UUIDs. */
export function uuidOf(...name: readonly string[]): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name.join('/')).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The namespace of our own properties; nothing is fetched from it. */
const NS = 'urn:remit:ns:report'

interface Prop {
  readonly name: string
  readonly ns: string
  readonly value: string
  readonly class?: string
  readonly remarks?: string
}

type More = Pick<Prop, 'class' | 'remarks'>

const prop = (name: string, value: string | number | boolean, more: More = {}): Prop => ({
  name,
  ns: NS,
  value: oneLine(String(value)),
  ...more,
})

type PropValues = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Properties by name, without those that have no value. */
const propsOf = (values: PropValues): Prop[] =>
  Object.entries(values).flatMap(([name, value]) => (value == null ? [] : prop(name, value)))

/** An OSCAL string: one line, not empty, trimmed. */
const oneLine = (text: string): string => spellOut(text).trim() || '-'

/** Escapes external text where OSCAL reads Markdown (CommonMark, backslash escapes). */
const plain = (text: string): string => oneLine(text).replaceAll(/[\\`*_[\]<>&#!|~]/g, '\\$&')

/** A control id as an OSCAL token: `CC6.2` is `cc6.2`, `Art. 14(4)(a)` is `art-14.4.a`. */
export const tokenOf = (controlId: string): string =>
  controlId.toLowerCase().replaceAll(/\.? /g, '-').replaceAll('(', '.').replaceAll(')', '')

/** A list as a member, or no member: OSCAL has no empty lists. */
const listed = <Name extends string, T>(
  name: Name,
  list: readonly T[],
): { readonly [name in Name]?: readonly T[] } =>
  (list.length === 0 ? {} : { [name]: list }) as { readonly [name in Name]?: readonly T[] }
