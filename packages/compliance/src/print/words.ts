import type {
  ControlStatus,
  Figure,
  ReportControl,
  ReportEvidence,
  StatusReason,
} from '@remit/contract'

export const EVALUATION_NOTICE =
  'Made by a server that runs without a licence, to be tried. Not for production.'

export const STATUS_WORDS: Readonly<Record<ControlStatus, string>> = {
  satisfied: 'Satisfied',
  attention: 'Attention',
  not_evidenced: 'Not evidenced',
  manual: 'Manual',
}

/** What a status says, and what it does not. */
export const STATUS_MEANINGS: Readonly<Record<ControlStatus, string>> = {
  satisfied:
    'For the agents that are governed here, the listed checks passed over the stated populations in the period. It speaks for that part only.',
  attention: 'Something does not hold: see the findings.',
  not_evidenced: 'The record shows nothing that could be judged, for the stated reason.',
  manual: 'The record shows nothing for it by design; the organization supplies all of it.',
}

export const REASON_WORDS: Readonly<Record<StatusReason, string>> = {
  ledger_not_verified: 'the ledger did not verify',
  check_failed: 'a check failed',
  not_in_plan: 'not in the plan',
  not_configured: 'nothing is set up',
  not_exercised: 'not used in the period',
  too_young: 'the record is not old enough',
  nothing_to_check: 'nothing to check',
}

export const COVERAGE_WORDS: Readonly<Record<ReportControl['coverage'], string>> = {
  automated: 'wholly',
  partial: 'in part',
  manual: 'not',
}

export const RESULT_WORDS = {
  pass: 'passed',
  fail: 'failed',
  not_applicable: 'does not apply',
} as const

export const evidenceWords = ({ operated, reason }: ReportEvidence): string =>
  operated || reason === null ? (operated ? 'at work' : 'not at work') : REASON_WORDS[reason]

/** `credential_lifecycle` as words at the beginning of a line. */
export const titleOf = (id: string): string => {
  const words = id.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A measured value as text; a share with what it is a share of. */
export const figureText = (figure: Figure): string =>
  figure === null ? 'nothing to measure' : partText(figure)

function partText(figure: Figure): string {
  if (figure === null) return 'none'
  if (typeof figure === 'boolean') return figure ? 'yes' : 'no'
  if (typeof figure !== 'object') return String(figure)
  if (isList(figure)) return figure.length === 0 ? 'none' : figure.map(partText).join(', ')
  const { numerator, denominator, text } = figure
  if (typeof text === 'string' && numerator !== undefined && denominator !== undefined)
    return `${text} (${partText(numerator)} of ${partText(denominator)})`
  const members = Object.entries(figure)
  if (members.length === 0) return 'none'
  // As they are: a name can be that of an agent.
  return members.map(([name, one]) => `${name}: ${nested(one)}`).join('; ')
}

/** What is inside a figure: one that would read on into what follows stands in brackets. */
const nested = (figure: Figure): string => {
  const text = partText(figure)
  return text.includes('; ') ? `[${text}]` : text
}

// The built-in test does not narrow a readonly list.
const isList = (figure: Figure): figure is readonly Figure[] => Array.isArray(figure)

export const seqText = (seqs: readonly number[]): string => seqs.join(', ')

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAY = 86_400_000

/** A period of whole UTC days as its first and last day; any other one as its instants. */
export function periodText({ from, to }: { readonly from: string; readonly to: string }): string {
  if (!from.endsWith('T00:00:00.000Z') || !to.endsWith('T00:00:00.000Z'))
    return `${momentText(from)} to before ${momentText(to)}`
  return `${dayText(Date.parse(from))} to ${dayText(Date.parse(to) - DAY)}`
}

/** `2026-01-31T08:00:00.000Z` for people, to the second. */
export const momentText = (time: string): string =>
  `${dayText(Date.parse(time))}, ${time.slice(11, 19)} UTC`

// Neither the locale nor the time zone of the machine has a say.
function dayText(time: number): string {
  const date = new Date(time)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}
