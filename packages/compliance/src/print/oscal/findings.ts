import type { ReadyReport, ReportControl } from '@remit/contract'
import { REASON_TEXTS, STATUS_MEANINGS, STATUS_TEXTS } from '@remit/contract/report-texts'
import { controlObservationId, findingObservationId, statusProps } from './observations.ts'
import { uuidOf } from './uuid.ts'
import { plain, tokenOf } from './values.ts'

/**
 * One finding per assessed control. Controls without evidence and manual controls have none, since
 * both OSCAL states would be wrong for them.
 */
export const findingsOf = (report: ReadyReport): object[] =>
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
