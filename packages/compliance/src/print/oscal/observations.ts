import type {
  ReadyReport,
  ReportCheck,
  ReportControl,
  ReportEvidence,
  ReportFinding,
} from '@remit/contract'
import {
  datedText,
  evidenceTitle,
  figureText,
  populationText,
  resultText,
  seqText,
} from '@remit/contract/report-texts'
import { uuidOf } from './uuid.ts'
import { listed, plain, prop, tokenOf } from './values.ts'
import type { Prop } from './values.ts'

/** The observation ids of controls and of findings. */
export const controlObservationId = (report: ReadyReport, control: string): string =>
  uuidOf(report.content_sha256, 'observation', control)
export const findingObservationId = (report: ReadyReport, finding: string): string =>
  uuidOf(report.content_sha256, 'observation-of-finding', finding)

/** One observation per control with its exact status, and one per finding. */
export const observationsOf = (report: ReadyReport): object[] => [
  ...report.content.controls.map((control) => ofControl(report, control)),
  ...report.content.findings.map((finding) => ofFinding(report, finding)),
]

/** Our status: OSCAL only has satisfied and not-satisfied. */
export const statusProps = ({ id, status, reason, coverage }: ReportControl): Prop[] => [
  prop('control-id', id),
  prop('status', status),
  ...(reason === null ? [] : [prop('status-reason', reason)]),
  prop('coverage', coverage),
]

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
  props: [
    prop('evidence-kind', evidence.kind),
    prop('operated', evidence.operated),
    ...(evidence.reason === null ? [] : [prop('reason', evidence.reason)]),
    prop('count', evidence.count),
    ...(evidence.first_seq === null ? [] : [prop('first-seq', evidence.first_seq)]),
    ...(evidence.last_seq === null ? [] : [prop('last-seq', evidence.last_seq)]),
    ...(evidence.sample.length === 0 ? [] : [prop('sample-seqs', seqText(evidence.sample))]),
    ...(evidence.sample_dates === undefined || evidence.sample.length === 0
      ? []
      : [prop('sample-with-dates', datedText(evidence.sample, evidence.sample_dates))]),
  ],
})

const ofFinding = (report: ReadyReport, finding: ReportFinding): object => ({
  uuid: findingObservationId(report, finding.id),
  title: `${finding.id}: ${finding.check}${finding.title === undefined ? '' : ` ${plain(finding.title)}`}`,
  description: plain(finding.text),
  props: [
    prop('finding-id', finding.id),
    prop('check-id', finding.check),
    prop('severity', finding.severity),
    prop('count', finding.count),
    ...(finding.seqs.length === 0 ? [] : [prop('seqs', seqText(finding.seqs))]),
    ...(finding.dates === undefined || finding.seqs.length === 0
      ? []
      : [prop('seqs-with-dates', datedText(finding.seqs, finding.dates))]),
    ...(finding.agents ?? []).map((agent) => prop('agent', agent)),
    ...(finding.keys ?? []).map((key) => prop('recorded-by', key)),
    ...(finding.fixed_seq == null ? [] : [prop('fixed-seq', finding.fixed_seq)]),
    ...finding.controls.map((control) =>
      prop('about-control', control, { class: tokenOf(control) }),
    ),
  ],
  methods: ['EXAMINE'],
  types: ['finding'],
  collected: report.generated_at,
})
