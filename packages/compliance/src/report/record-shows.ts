import type { ReportCheck, ReportEvidence } from '@remit/contract'
import { evidenceTitle, populationText } from '@remit/contract/report-texts'
import { CHECKS, EVIDENCE_KINDS } from '../catalogue/catalogue.ts'
import type { ControlResult } from './status.ts'

/**
 * The evidence of a control, with figures: kinds that operated, and checks that passed. A control with
 * a failed check has only the checks that passed, and one that cannot be judged has nothing.
 */
export function recordShows(
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
