import type { ReadyReport, ReportControl } from '@remit/contract'
import { EVALUATION_NOTICE, periodText } from '@remit/contract/report-texts'
import { findingsOf } from './findings.ts'
import { observationsOf } from './observations.ts'
import { uuidOf } from './uuid.ts'
import { listed, oneLine, plain, prop, tokenOf } from './values.ts'
import type { Prop } from './values.ts'

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
          props: [prop('content-sha256', sha256), prop('record-seq', report.record_seq)],
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
      prop('report-id', report.id),
      prop('framework', framework.id),
      prop('framework-version', framework.version),
      prop('catalog-version', content.catalog.version),
      prop('catalog-sha256', content.catalog.sha256),
      prop('content-sha256', sha256),
      prop('record-seq', report.record_seq),
      ...(report.evaluation ? [prop('evaluation', true, { remarks: EVALUATION_NOTICE })] : []),
      prop('checkpoint-seq', report.ledger_head.size - 1),
      prop('checkpoint-hash', report.ledger_head.hash),
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
      prop('ledger-verified', ledger.verified),
      prop('ledger-entries', ledger.entries),
      ...(ledger.hash_at_last === null ? [] : [prop('ledger-hash', ledger.hash_at_last)]),
      ...(ledger.first_bad_seq === null
        ? []
        : [prop('ledger-first-bad-seq', ledger.first_bad_seq)]),
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
